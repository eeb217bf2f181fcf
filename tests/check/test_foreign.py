"""Sets that other tools wrote, or that are for another GPU, checked against launches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from build_capture.errors import CaptureError
from build_capture.files import sha256_of_bytes
from build_capture.pipeline.plan import Request
from build_capture.sets.check import check_cubins, faults_of
from build_capture.sets.check_request import check
from build_capture.sets.launch import Launch
from build_capture.sets.match import Index, Policy, match
from build_capture.sets.model import CapturedSet, SetKernel
from build_capture.sets.read import ReadSet
from build_capture.sets.seal import sealed
from build_capture.targets import parse_target
from tests.sets.cubins import cubin_bytes
from tests.sets.entries import entry, launch, param, set_of, whole

SM_121 = parse_target("sm_121")


def written(folder: Path, *cubins: bytes) -> ReadSet:
    """A set of another tool, which does not say for which GPU it is: an entry of `_f` for each of the cubins."""
    (folder / "cubins").mkdir()
    kernels: list[SetKernel] = []
    for number, cubin in enumerate(cubins):
        (folder / "cubins" / f"h{number}.cubin").write_bytes(cubin)
        kernels.append(entry(param("n"), hash=f"h{number}", sha256="", seal="", consts={"D": number}))
    captured = CapturedSet(generator={}, target="", policy="", provenance={}, kernels=kernels)
    return ReadSet(folder, folder / "aot.json", captured, foreign=True, notes=(), bin_dir="cubins", bin_ext="cubin")


def told(read: ReadSet) -> list[tuple[str, str]]:
    """What the check says of the cubins."""
    return [(finding.what, finding.why) for finding in check_cubins(read, SM_121)]


def of(capability: int) -> bytes:
    """A cubin of `_f` for a GPU."""
    return cubin_bytes(capability, "_f", parameters=(4, 8, 8))


def test_check_cubins_all_for_another_gpu(tmp_path: Path) -> None:
    # R16: no silent 120 on 121, and one word for the whole set.
    assert told(written(tmp_path, of(120), of(120))) == [("aot.json", "found sm120, need sm121: all its cubins are for that GPU")]


@pytest.mark.parametrize(
    ("cubins", "want"),
    [
        ([of(121), of(121)], []),
        ([of(121), of(120)], [("cubins/h1.cubin", "its cubin is for sm_120, not sm_121")]),
        ([of(120), of(90)], [("cubins/h0.cubin", "its cubin is for sm_120, not sm_121"), ("cubins/h1.cubin", "its cubin is for sm_90, not sm_121")]),
        ([of(120), b"none"], [("aot.json", "found sm120, need sm121: all its cubins are for that GPU"), ("cubins/h1.cubin", "its cubin is not an ELF")]),
        # R18: a hidden parameter more than engines pass.
        ([cubin_bytes(121, "_f", parameters=(4, 8, 8, 8))], [("cubins/h0.cubin", "the entry _f takes 4 parameters; engines pass 1 and 2 scratch pointers")]),
    ],
)
def test_check_cubins(cubins: Sequence[bytes], want: list[tuple[str, str]], tmp_path: Path) -> None:
    assert told(written(tmp_path, *cubins)) == want


def faults(asked: Launch, rule: Policy, *kernels: SetKernel) -> dict[str, str]:
    """What a launch meets, by kind."""
    index = Index(kernels)
    return dict(faults_of(index, asked, rule, match(index, asked, rule)))


TWO = (entry(param("n"), warps=4, stages=2, hash="a" * 16), entry(param("n"), warps=8, stages=2, hash="b" * 16))


def test_check_two_options_with_and_without_pins() -> None:
    # R01: an unpinned launch that fits several is an error, never first-match.
    for rule in ("exact", "pinned", "fallback"):
        assert "num_warps is 4 in" in faults(launch([whole("n", 3)]), rule, *TWO)["ambiguous"]
    pinned = launch([whole("n", 3)], warps=8, stages=2)
    assert faults(pinned, "pinned", *TWO) == faults(pinned, "fallback", *TWO) == {}
    # An engine that knows the exact rule alone takes the wrong one without a word.
    assert faults(pinned, "exact", *TWO).keys() == {"pins"}
    assert "an engine that heeds no pins takes aaaaaaaaaaaa, the first" in faults(pinned, "exact", *TWO)["pins"]
    assert faults(pinned, "exact", TWO[1]) == {}


def test_check_requested_and_effective_options_are_kept_apart() -> None:
    # R10: the compiler raised the warps; the launch uses what it says, the entry's identity what was asked for.
    raised = msgspec.structs.replace(TWO[0], num_warps=16, requested={"num_warps": 4, "num_stages": 2})
    assert "warps 4" in raised.identity
    assert faults(launch([whole("n", 3)]), "pinned", raised) == {}
    # An engine that compares a pin with the launch's own options refuses it: the check says so before the engine does.
    assert faults(launch([whole("n", 3)], warps=4), "pinned", raised).keys() == {"missing"}


def test_check_constants_that_no_launch_names() -> None:
    # R45: FLAG=None and FLAG=3 in one set, in either order, and the launch is silent on it.
    flags = (entry(param("n"), consts={"FLAG": None}, hash="a" * 16), entry(param("n"), consts={"FLAG": 3}, hash="b" * 16))
    for kernels in (flags, flags[::-1]):
        assert "FLAG is" in faults(launch([whole("n", 3)]), "exact", *kernels)["ambiguous"]
    assert faults(launch([whole("n", 3)], {"FLAG": 3}), "exact", *flags) == {}
    signs = (entry(param("n"), consts={"SCALE": 0.0}, hash="a" * 16), entry(param("n"), consts={"SCALE": -0.0}, hash="b" * 16))
    assert "SCALE is" in faults(launch([whole("n", 3)]), "exact", *signs)["ambiguous"]
    assert faults(launch([whole("n", 3)], {"SCALE": -0.0}), "exact", *signs) == {}


def test_check_bytes_and_fields_changed(tmp_path: Path) -> None:
    # R21: one byte of a cubin.
    read = written(tmp_path, of(121))
    kernel = msgspec.structs.replace(read.captured.kernels[0], sha256=sha256_of_bytes(of(121)))
    read = msgspec.structs.replace(read, captured=msgspec.structs.replace(read.captured, kernels=[kernel]))
    assert told(read) == []
    (tmp_path / "cubins" / "h0.cubin").write_bytes(of(121)[:-1] + b"\x01")
    assert told(read) == [("cubins/h0.cubin", "its bytes are not those that aot.json records for _f")]


COMPILED = entry(param("X", "*bf16", "div16"), param("n"))


@pytest.mark.parametrize(
    ("kernels", "want"),
    [
        # A field edited by hand: the launch would ask for less shared memory than the code uses.
        ([msgspec.structs.replace(COMPILED, shared=64)], "`seal` is not that of the entry: something in it was changed"),
        # An alias that claims addresses for which its code was not compiled, though sealed as it is.
        (
            [COMPILED, sealed(msgspec.structs.replace(COMPILED, alias=True, params=[param("X", "*bf16", assumes16=True), param("n")]))],
            "`X` serves values that its code does not: the code assumes a multiple of 16",
        ),
        ([sealed(msgspec.structs.replace(COMPILED, alias=True))], "an alias whose `hash` no entry with `alias` false has"),
        # Scratch memory, which engines do not give.
        ([sealed(msgspec.structs.replace(COMPILED, global_scratch=128))], "`global_scratch` is 128; expected 0, since engines give no scratch memory"),
    ],
)
def test_check_refuses_unsound_sets(kernels: list[SetKernel], want: str, planning: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "aot.json").write_bytes(msgspec.json.encode(set_of(*kernels)))
    with pytest.raises(CaptureError) as caught:
        check(tmp_path, "exact", None, Request(**planning))
    assert want in str(caught.value) and caught.value.code == 2
