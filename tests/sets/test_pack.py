"""Packing: deterministic bytes, whole or not at all, nothing of others lost; and each check of a variant fails on a broken one."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from build_capture.capture.check import check_result
from build_capture.capture.compile import Variant
from build_capture.capture.records import Result, ResultParameter
from build_capture.errors import CaptureError
from build_capture.files import sha256_of_bytes
from build_capture.plan.needs import Class, Constant, Need, Options, Parameter, Witness
from build_capture.sets.pack import pack
from build_capture.targets import parse_target
from tests.sets.cubins import cubin_bytes

TARGET = parse_target("sm_121")
NEED = Need(
    "_k",
    [Parameter("X", "*bf16", Class.ALIGNED), Parameter("n", "i32", Class.ONE), Parameter("m", "i32", Class.ANY)],
    {"SCALE": Constant("f32", 0x3D800000), "FLAG": Constant("bool", True), "MASK": Constant("none", None), "MODE": Constant("text", "ieee")},
    Options(4, 3),
    1,
    Witness("decode", 1, 1, [1], {}, [1, 1, 1], []),
)
CUBIN = cubin_bytes(121, "_k", parameters=(8, 4, 8, 8), block=(512, 1, 1))
RESULT = Result(
    fn="_k",
    hash="ab" * 32,
    name="_k",
    num_warps=16,
    num_stages=3,
    num_ctas=1,
    warp_size=32,
    shared=512,
    global_scratch=0,
    global_align=1,
    profile_scratch=0,
    pdl=False,
    params=[ResultParameter("X", "*bf16", True), ResultParameter("m", "i32", False)],
    constants=NEED.constexprs | {"n": Constant("int", 1)},
    cubin_sha256=sha256_of_bytes(CUBIN),
    sources={"k.py": "11"},
    seconds=1.0,
)


def test_check_result_accepts_a_variant_that_is_what_its_need_asks_for() -> None:
    assert check_result(NEED, RESULT, CUBIN, TARGET) == []


@pytest.mark.parametrize(
    ("change", "want"),
    [
        ({"params": [ResultParameter("X", "*bf16", False), RESULT.params[1]]}, "Triton compiled for (X: *bf16, m: i32)"),
        ({"constants": NEED.constexprs}, "Triton compiled with"),
        ({"constants": RESULT.constants | {"FLAG": Constant("int", 1)}}, "FLAG=int:1"),
        ({"num_warps": 8}, "the entry _k takes blocks of 512 x 1 x 1 threads; engines launch 256 x 1 x 1"),
        ({"global_scratch": 128}, "it needs scratch memory (128 bytes global, 0 bytes profile)"),
        ({"profile_scratch": 64}, "it needs scratch memory (0 bytes global, 64 bytes profile)"),
        ({"shared": 101377}, "_k needs 101377 bytes of shared memory; sm_121 has 101376 a block"),
        ({"name": "_other"}, "its cubin has no entry _other"),
    ],
)
def test_check_result_names_what_is_wrong(change: dict[str, object], want: str) -> None:
    (problem,) = check_result(NEED, msgspec.structs.replace(RESULT, **change), CUBIN, TARGET)
    assert want in problem


@pytest.mark.parametrize(
    ("cubin", "want"),
    [
        (cubin_bytes(120, "_k"), "its cubin is for sm_120, not sm_121"),
        (cubin_bytes(90, "_k"), "its cubin is for sm_90, not sm_121"),
        (cubin_bytes(121, "_k", machine=62), "its cubin is an ELF for another machine, not for CUDA"),
        (cubin_bytes(121, "_k", parameters=(8, 4, 8)), "the entry _k takes 3 parameters; engines pass 2 and 2 scratch pointers"),
        (cubin_bytes(121, "_k", parameters=(8, 8, 8, 8)), "the entry _k takes m as 8 bytes at 8; engines pass 4 bytes at 8"),
        (b"", "its cubin is not an ELF"),
        (CUBIN[:80], "its cubin is damaged"),
    ],
)
def test_check_result_opens_the_cubin(cubin: bytes, want: str) -> None:
    (problem,) = check_result(NEED, RESULT, cubin, TARGET)
    assert want in problem


def test_pack_writes_what_engines_read(tmp_path: Path) -> None:
    out = tmp_path / "set"
    total = pack([Variant(NEED, RESULT, CUBIN)], TARGET, {"mode": "compile"}, out)
    files = {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    assert sorted(files) == ["aot.json", f"cubins/{'ab' * 32}.cubin"]
    assert total == sum(map(len, files.values()))
    document = msgspec.json.decode(files["aot.json"])
    assert (document["target"], document["policy"], document["provenance"]) == ("sm_121", "exact", {"mode": "compile"})
    (kernel,) = document["kernels"]
    assert kernel["params"] == [
        {"name": "X", "type": "*bf16", "div16": True, "nospec": False, "assumes16": True},
        {"name": "m", "type": "i32", "div16": False, "nospec": False, "assumes16": False},
    ]
    assert kernel["consts"] == {"FLAG": {"int": 1}, "MASK": {"none": True}, "SCALE": {"f32": 0x3D800000}, "n": {"int": 1}}
    assert (kernel["kinds"], kernel["texts"]) == ({"FLAG": "bool"}, {"MODE": "ieee"})
    # The block follows what was compiled; the identity follows what was asked for.
    assert (kernel["num_warps"], kernel["requested"]) == (16, {"num_stages": 3, "num_warps": 4})


def test_pack_gives_the_same_bytes_in_any_order(tmp_path: Path) -> None:
    other = Variant(msgspec.structs.replace(NEED, function="_j"), msgspec.structs.replace(RESULT, hash="cd" * 32), CUBIN)
    pack([Variant(NEED, RESULT, CUBIN), other], TARGET, {}, tmp_path / "one")
    pack([other, Variant(NEED, RESULT, CUBIN)], TARGET, {}, tmp_path / "two")
    assert (tmp_path / "one" / "aot.json").read_bytes() == (tmp_path / "two" / "aot.json").read_bytes()


def test_pack_leaves_an_equal_set_as_it_is_and_replaces_another_whole(tmp_path: Path) -> None:
    out = tmp_path / "set"
    pack([Variant(NEED, RESULT, CUBIN)], TARGET, {}, out)
    before = (out / "aot.json").stat()
    pack([Variant(NEED, RESULT, CUBIN)], TARGET, {}, out)
    assert (out / "aot.json").stat().st_mtime_ns == before.st_mtime_ns
    pack([Variant(NEED, msgspec.structs.replace(RESULT, hash="cd" * 32), CUBIN)], TARGET, {}, out)
    assert [p.stem for p in (out / "cubins").iterdir()] == ["cd" * 32]
    assert [p.name for p in tmp_path.iterdir()] == ["set"]


@pytest.mark.parametrize("stranger", ["notes.txt", "cubins/readme.md"])
def test_pack_refuses_a_folder_that_holds_something_else(tmp_path: Path, stranger: str) -> None:
    out = tmp_path / "set"
    (out / "cubins").mkdir(parents=True)
    (out / stranger).write_text("mine")
    with pytest.raises(CaptureError, match="is not part of a set, so this folder is left as it is"):
        pack([Variant(NEED, RESULT, CUBIN)], TARGET, {}, out)
    assert (out / stranger).read_text() == "mine"
    assert not (out / "aot.json").exists()


def test_pack_refuses_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "set").write_text("mine")
    with pytest.raises(CaptureError, match="this is a file; a set is a folder"):
        pack([Variant(NEED, RESULT, CUBIN)], TARGET, {}, tmp_path / "set")
    assert (tmp_path / "set").read_text() == "mine"


def test_pack_refuses_a_folder_within_a_set_and_a_link_to_itself(tmp_path: Path) -> None:
    variants = [Variant(NEED, RESULT, CUBIN)]
    pack(variants, TARGET, {}, tmp_path / "set")
    with pytest.raises(CaptureError, match="this lies in the folder of a set, which holds its files alone"):
        pack(variants, TARGET, {}, tmp_path / "set/a/b")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(CaptureError, match="this link leads to itself|cannot write"):
        pack(variants, TARGET, {}, tmp_path / "loop")
    assert sorted(path.name for path in tmp_path.rglob("*")) == [f"{RESULT.hash}.cubin", "aot.json", "cubins", "loop", "set"]
