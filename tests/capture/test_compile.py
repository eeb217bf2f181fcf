"""Compiling needs: reuse, failures, and independence from the machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from build_capture.capture.compile import WORKER_FILES, describe_kernels
from build_capture.capture.records import Result
from build_capture.errors import CaptureError, Exit
from build_capture.plan.needs import Class, Constant
from build_capture.targets import parse_target
from build_capture.zig import PACKAGE
from tests.capture.conftest import Family, need

ALL = [need("_scale", Class.ONE), need("_scale", Class.ANY), need("_add", Class.ANY)]


def test_worker_files_are_the_modules_of_a_worker() -> None:
    """A module that is left out could change, and cubins of the old one would be kept."""
    script = "import sys, build_capture.capture.worker, build_capture.capture.triton_steps; print(*(getattr(m, '__file__', '') or '' for m in [*sys.modules.values()]), sep='\\n')"
    loaded = subprocess.run([sys.executable, "-c", script], cwd=PACKAGE.parent, capture_output=True, text=True, check=True).stdout
    own = {path.relative_to(PACKAGE) for path in map(Path, loaded.splitlines()) if path.is_relative_to(PACKAGE)}
    assert {str(path) for path in own if path.name != "__init__.py"} == set(WORKER_FILES)


def test_compile_needs_reuses_what_did_not_change(family: Family) -> None:
    first = family.compile(ALL)
    assert (first.compiled, first.reused) == (3, 0)
    assert [total for _, total, _ in family.progress] == [3, 3, 3]
    second = family.compile(ALL)
    assert (second.compiled, second.reused) == (0, 3)
    assert [v.result.hash for v in first.variants] == [v.result.hash for v in second.variants]


def test_compile_needs_after_an_edit_to_a_helper_compiles_what_imports_it(family: Family) -> None:
    before = family.compile(ALL)
    family.edit("helper.py", "x * 2", "x * 3")
    # An older time must not hide the edit: contents decide.
    os.utime(family.folder / "helper.py", (0, 0))
    after = family.compile(ALL)
    assert (after.compiled, after.reused) == (2, 1)
    changed = [a.need.function for a, b in zip(after.variants, before.variants) if a.cubin != b.cubin]
    assert changed == ["_scale", "_scale"]


def test_compile_needs_after_a_mere_touch_compiles_nothing(family: Family) -> None:
    family.compile(ALL)
    os.utime(family.folder / "scale.py")
    assert family.compile(ALL).compiled == 0


def test_compile_needs_compiles_a_new_need_alone(family: Family) -> None:
    family.compile(ALL)
    grown = family.compile([*ALL, need("_add", Class.DIV16)])
    assert (grown.compiled, grown.reused) == (1, 3)


def test_compile_needs_tells_launch_options_apart(family: Family) -> None:
    compiled = family.compile([need("_add", Class.ANY, warps=1), need("_add", Class.ANY, warps=4)])
    assert [v.result.num_warps for v in compiled.variants] == [1, 4]
    assert len({v.result.hash for v in compiled.variants}) == 2


def test_compile_needs_follows_every_class_and_the_cubins_depend_on_it(family: Family) -> None:
    needs = [need("_add", n, aligned=aligned) for n in (Class.ONE, Class.DIV16, Class.ANY) for aligned in (True, False)]
    compiled = family.compile(needs)
    assert len({v.result.hash for v in compiled.variants}) == 6
    hints = [[(p.name, p.div16) for p in v.result.params] for v in compiled.variants]
    assert hints[0] == [("X", True), ("OUT", True)]
    assert hints[3] == [("X", False), ("OUT", True), ("n", True)]
    assert compiled.variants[0].result.constants["n"] == Constant("int", 1)


def test_compile_needs_recompiles_a_damaged_cubin(family: Family) -> None:
    whole = family.compile(ALL[:1])
    (stored,) = (family.cache / "variants" / "results").glob("*.cubin")
    stored.write_bytes(stored.read_bytes()[:-1])
    again = family.compile(ALL[:1])
    assert again.compiled == 1
    assert again.variants[0].cubin == whole.variants[0].cubin


def test_compile_needs_lists_every_failure(family: Family) -> None:
    family.edit("scale.py", "twice(tl.load(X + at, mask=at < n))", "tl.no_such_operation(X)")
    with pytest.raises(CaptureError) as raised:
        family.compile(ALL)
    assert raised.value.code == Exit.KERNEL
    text = str(raised.value)
    assert text.count("_scale does not compile for sm_121") == 2
    assert "no_such_operation" in text and "scale.py:11" in text and "2 errors" in text
    # What does compile was compiled all the same, and is there for the next run.
    family.edit("scale.py", "tl.no_such_operation(X)", "twice(tl.load(X + at, mask=at < n))")
    assert family.compile(ALL).reused == 1


def test_compile_needs_refuses_a_kernel_that_needs_too_much_shared_memory(family: Family) -> None:
    family.target = "sm_121"
    (family.folder / "big.py").write_text(
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
        "def _add(X, OUT, n, BLOCK: tl.constexpr):\n"
        # A tall factor, so that it is the memory that is large and not the code.
        "    i, k, j = tl.arange(0, 1024), tl.arange(0, 64), tl.arange(0, 16)\n"
        "    a = tl.load((X + i[:, None] * 64 + k[None, :]).to(tl.pointer_type(tl.float16)))\n"
        "    b = tl.load((X + k[:, None] * 16 + j[None, :]).to(tl.pointer_type(tl.float16)))\n"
        "    tl.store(OUT + i[:, None] * 16 + j[None, :], tl.dot(a, b) + n)\n"
    )
    (family.folder / "add.py").unlink()
    with pytest.raises(CaptureError, match=r"_add .*needs \d+ bytes of shared memory; sm_121 has 101376 a block") as raised:
        family.compile([need("_add", Class.ANY, warps=4)])
    assert raised.value.code == Exit.KERNEL


def test_compile_needs_sees_nothing_of_the_users_environment(family: Family, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plain = family.compile(ALL[:1])
    touched = tmp_path / "user cache"
    for name, value in {
        "TRITON_CACHE_DIR": str(touched),
        "TRITON_OVERRIDE_ARCH": "sm90",
        "TRITON_DEFAULT_FP_FUSION": "0",
        "TRITON_INTERPRET": "1",
        "DISABLE_PTXAS_OPT": "1",
        "HOME": "/nonexistent",
        "PATH": "",
        "CC": "/nonexistent",
    }.items():
        monkeypatch.setenv(name, value)
    family.cache = tmp_path / "another cache"
    again = family.compile(ALL[:1])
    assert again.compiled == 1
    assert msgspec.structs.replace(again.variants[0].result, seconds=0.0) == msgspec.structs.replace(plain.variants[0].result, seconds=0.0)
    assert again.variants[0].cubin == plain.variants[0].cubin
    assert not touched.exists()


def test_compile_needs_in_another_folder_gives_the_same_bytes(family: Family, tmp_path: Path) -> None:
    here = family.compile(ALL)
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for path in family.folder.glob("*.py"):
        (moved / path.name).write_bytes(path.read_bytes())
    there = Family(moved, tmp_path / "second cache").compile(ALL, jobs=1)
    strip = lambda result: msgspec.structs.replace(result, seconds=0.0)  # noqa: E731
    assert [(strip(v.result), v.cubin) for v in here.variants] == [(strip(v.result), v.cubin) for v in there.variants]


def test_describe_kernels_says_signature_options_and_toolchain(family: Family) -> None:
    description = describe_kernels(family.folder, ["_scale", "_add", "_absent"], parse_target("sm_121"), family.cache)
    add, scale = description.kernels
    assert (add.function, add.module, add.launch_options) == ("_add", "add.py", {})
    assert scale.launch_options == {"num_warps": 1, "num_stages": 2}
    assert [(p.name, p.constexpr, p.default) for p in scale.parameters][3:] == [
        ("BLOCK", True, None),
        ("ROUNDED", True, Constant("bool", True)),
    ]
    assert description.toolchain.ptxas and len(description.toolchain.ptxas_sha256) == 64


def test_describe_kernels_names_a_kernel_that_two_modules_define(family: Family) -> None:
    (family.folder / "other.py").write_text((family.folder / "add.py").read_text())
    with pytest.raises(CaptureError, match="_add is also defined in add.py"):
        describe_kernels(family.folder, ["_add"], parse_target("sm_121"), family.cache)


def test_result_keeps_no_path_of_the_machine(family: Family) -> None:
    (variant,) = family.compile(ALL[:1]).variants
    assert isinstance(variant.result, Result)
    assert str(family.folder).encode() not in msgspec.json.encode(variant.result)
    assert str(family.folder).encode() not in variant.cubin
    assert sorted(variant.result.sources) == ["helper.py", "scale.py"]
