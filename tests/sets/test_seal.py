"""Seals and soundness: a set that was changed, or that claims more than its cubins bear out, can be neither written nor read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from build_capture.errors import CaptureError
from build_capture.files import sha256_of_bytes
from build_capture.sets.model import SetKernel
from build_capture.sets.pack import set_files, write_set
from build_capture.sets.read import read_set
from build_capture.sets.seal import canonical_text, seal, sealed, soundness
from tests.sets.entries import CUBIN, constant, entry, param, set_of

COMPILED = entry(param("X", "*bf16", "div16"), param("N"), consts={"M": 1}, stages=3)
ALIAS = sealed(msgspec.structs.replace(COMPILED, alias=True, params=[COMPILED.params[0], param("N", "i32", "nospec")]))
MULTIPLES = entry(param("N", "i32", "div16"))


def changed(kernel: SetKernel, **fields: Any) -> SetKernel:
    """An entry with other fields, sealed as it then is."""
    return sealed(msgspec.structs.replace(kernel, **fields))


def test_canonical_text_says_all_of_an_entry() -> None:
    kernel = entry(
        param("X", "*bf16", "div16", assumes16=False),
        consts={"N": None, "D": -1, "F": 1.5, "B": 1},
        kinds={"B": "bool"},
        texts={"MODE": "a\nb"},
        alias=True,
        name="_f_0",
        warps=4,
        stages=3,
        shared=512,
        pdl=True,
        sha256="cd",
    )
    assert canonical_text(kernel).splitlines() == [
        "fn _f",
        f"hash {'ab' * 32}",
        "name _f_0",
        "sha256 cd",
        "launch 4 3 1 32 512 0 1 0 true",
        "requested 4 3",
        "alias true",
        "param X *bf16 true false false",
        "const B int 1",
        "const D int -1",
        "const F f32 1069547520",
        "const N none",
        "kind B bool",
        "text MODE 610a62",
    ]
    assert seal(kernel) == kernel.seal == sha256_of_bytes(canonical_text(kernel).encode())


@pytest.mark.parametrize(
    "change",
    [
        {"fn": "_g"},
        {"name": "_g"},
        {"hash": "cd"},
        {"num_warps": 8},
        {"num_stages": 4},
        {"num_ctas": 2},
        {"warp_size": 64},
        {"shared": 16},
        {"pdl": True},
        {"sha256": "cd"},
        {"alias": True},
        {"requested": {"num_stages": 3, "num_warps": 8}},
        {"kinds": {"M": "bool"}},
        {"texts": {"MODE": "ieee"}},
        {"consts": {"M": constant(2)}},
        {"consts": {}},
        {"params": COMPILED.params[:1]},
        {"params": COMPILED.params[::-1]},
        {"params": [param("X", "*bf16"), COMPILED.params[1]]},
        {"params": [COMPILED.params[0], param("N", "i64")]},
    ],
)
def test_soundness_notices_each_change_by_hand(change: dict[str, Any]) -> None:
    (problem, *_) = soundness([msgspec.structs.replace(COMPILED, **change)])
    assert "`seal` is not that of the entry: something in it was changed" in problem


CLAIMS: dict[str, tuple[list[SetKernel], str]] = {
    "unaligned addresses for aligned code": (
        [COMPILED, changed(ALIAS, params=[param("X", "*bf16", assumes16=True), param("N")])],
        "kernels[1] (_f): `X` serves values that its code does not: the code assumes a multiple of 16",
    ),
    "code that is said to assume less than it was compiled for": (
        [COMPILED, changed(ALIAS, params=[param("X", "*bf16"), param("N")])],
        "kernels[1] (_f): `params` is not that of kernels[0], which has the same `hash`",
    ),
    "every value for code of multiples": (
        [MULTIPLES, changed(MULTIPLES, alias=True, params=[param("N", "i32", "div16", "nospec")])],
        "kernels[1] (_f): `N` serves values that its code does not: the code assumes a multiple of 16",
    ),
    "what was compiled, for other values": (
        [entry(param("N", "i32", "div16", assumes16=False))],
        "kernels[0] (_f): `N`: `div16` is not `assumes16`; only an alias may serve other values than its code was compiled for",
    ),
    "a folded int that is none": (
        [COMPILED, changed(ALIAS, consts={})],
        "kernels[1] (_f): `consts` is not that of kernels[0], which has the same `hash`",
    ),
    "a folded int as a parameter": (
        [COMPILED, changed(ALIAS, params=[*ALIAS.params, param("M")])],
        "kernels[1] (_f): `params` is not that of kernels[0], which has the same `hash`",
    ),
    "another block": ([COMPILED, changed(ALIAS, num_warps=8)], "kernels[1] (_f): `num_warps` is not that of kernels[0], which has the same `hash`"),
    "another entry symbol": ([COMPILED, changed(ALIAS, name="_g")], "kernels[1] (_f): `name` is not that of kernels[0], which has the same `hash`"),
    "an alias of nothing": ([ALIAS], "kernels[0] (_f): an alias whose `hash` no entry with `alias` false has"),
    "one cubin, compiled twice": ([COMPILED, COMPILED], "kernels[1] (_f): `alias` is false, as in kernels[0]; expected one such entry of a `hash`"),
    "no seal": ([msgspec.structs.replace(COMPILED, seal="")], "kernels[0]: `seal` is empty"),
    "a name with a line break": ([changed(COMPILED, fn="_f\nalias true")], "kernels[0]: `fn` is no name: it holds a space or a control character"),
}


def test_soundness_accepts_an_alias_that_assumes_less() -> None:
    assert soundness([COMPILED, ALIAS]) == []
    assert soundness([entry(param("X", "*bf16")), entry(param("X", "*bf16", "div16", assumes16=False), alias=True)]) == []


@pytest.mark.parametrize("case", CLAIMS)
def test_a_claim_that_no_cubin_bears_out_cannot_be_written(case: str, tmp_path: Path) -> None:
    kernels, want = CLAIMS[case]
    with pytest.raises(CaptureError) as raised:
        write_set(set_of(*kernels), {kernel.hash: CUBIN for kernel in kernels}, tmp_path / "set")
    assert str(raised.value) == f"error: this set cannot be written: {want}"
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize("case", CLAIMS)
def test_a_claim_that_no_cubin_bears_out_cannot_be_read(case: str, tmp_path: Path) -> None:
    kernels, want = CLAIMS[case]
    (tmp_path / "aot.json").write_bytes(msgspec.json.encode(set_of(*kernels)))
    with pytest.raises(CaptureError) as raised:
        read_set(tmp_path)
    assert str(raised.value) == f"{tmp_path / 'aot.json'}: error: {want}"


@pytest.mark.parametrize(
    ("cubins", "want"),
    [
        ({}, "there is no cubins/{hash}.cubin, which _f has"),
        ({COMPILED.hash: b"other"}, "the bytes of cubins/{hash}.cubin are not those that _f records"),
    ],
)
def test_set_files_refuses_a_cubin_that_is_not_the_entrys(cubins: dict[str, bytes], want: str) -> None:
    with pytest.raises(CaptureError, match=want.format(hash=COMPILED.hash)):
        set_files(set_of(COMPILED), cubins)


def test_set_files_puts_aliases_last_and_each_cubin_once() -> None:
    other: Callable[..., SetKernel] = lambda *params, **fields: entry(*params, hash="cd", **fields)  # noqa: E731
    kernels = [ALIAS, other(param("X", "*bf16", "div16"), param("N")), COMPILED]
    files = set_files(set_of(*kernels), {COMPILED.hash: CUBIN, "cd": CUBIN})
    assert list(files) == ["aot.json", f"cubins/{COMPILED.hash}.cubin", "cubins/cd.cubin"]
    again = set_files(set_of(*kernels[::-1]), {"cd": CUBIN, COMPILED.hash: CUBIN})
    assert again == files
    document = msgspec.json.decode(files["aot.json"])
    assert [(kernel["alias"], kernel["hash"][:2]) for kernel in document["kernels"]] == [(False, "ab"), (False, "cd"), (True, "ab")]
