"""Kernel modules as users write them: what is taken from them, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from build_capture.capture.compile import describe_kernels
from build_capture.capture.records import Description
from build_capture.errors import CaptureError, Exit
from build_capture.plan.needs import Class, Constant
from build_capture.targets import parse_target
from tests.capture.conftest import ADD, Family, need


def describe(family: Family, *functions: str) -> Description:
    """Describe `functions` of the family."""
    return describe_kernels(family.folder, functions, parse_target("sm_121"), family.cache)


def check_refused(family: Family, want: str, *functions: str) -> None:
    """The kernels are refused with `want`, as a fault of the kernels."""
    with pytest.raises(CaptureError) as raised:
        describe(family, *(functions or ("_add",)))
    assert want in str(raised.value)
    assert raised.value.code == Exit.KERNEL
    assert "Traceback" not in str(raised.value)


def test_describe_keeps_helpers_of_the_same_name_in_two_folders_apart(family: Family) -> None:
    for name, warps in (("one", 2), ("two", 8)):
        folder = family.folder / name
        folder.mkdir()
        (folder / "config.py").write_text(f'LAUNCH_OPTIONS = {{"_{name}": {{"num_warps": {warps}}}}}\nBLOCK = {warps * 16}\n')
        text = ADD.replace("_add", f"_{name}").replace("BLOCK: tl.constexpr", "BLOCK: tl.constexpr = BLOCK")
        (folder / f"{name}.py").write_text("from config import BLOCK, LAUNCH_OPTIONS\n" + text)
    one, two = describe(family, "_one", "_two").kernels
    assert (one.launch_options, two.launch_options) == ({"num_warps": 2}, {"num_warps": 8})
    assert (one.parameters[3].default, two.parameters[3].default) == (Constant("int", 32), Constant("int", 128))


@pytest.mark.parametrize("name", ["copy.py", "token.py"])
def test_compile_takes_a_module_named_like_one_of_pythons(family: Family, name: str) -> None:
    (family.folder / "add.py").rename(family.folder / name)
    assert family.compile([need("_add", Class.ANY)]).compiled == 1


def test_describe_is_not_misled_by_what_a_module_prints(family: Family) -> None:
    family.edit("add.py", "import triton\n", 'import os\nimport triton\nprint("hello")\nos.write(1, b"\\xff")\n')
    assert [kernel.function for kernel in describe(family, "_add").kernels] == ["_add"]


def test_describe_passes_over_files_that_hold_no_kernel(family: Family) -> None:
    (family.folder / "notes.py").write_bytes(b"# caf\xe9 (\n")
    (family.folder / "folder.py").mkdir()
    (family.folder / "add.py").write_bytes(b"\xef\xbb\xbf" + ADD.encode())
    assert [kernel.function for kernel in describe(family, "_add").kernels] == ["_add"]


@pytest.mark.parametrize(
    ("options", "want"),
    [
        ('{"_add": {"num_warp": 2}}', "did you mean num_warps or num_stages?"),
        ('{"_add": {"num_ctas": 2}}', "LAUNCH_OPTIONS of _add has num_ctas"),
        ('{"_ad": {"num_warps": 2}}', "LAUNCH_OPTIONS names _ad, which no module here defines; did you mean _add?"),
        ('{"_add": {"num_warps": "8"}}', "LAUNCH_OPTIONS of _add: num_warps is '8'"),
        ('{"_add": {"num_warps": 0}}', "LAUNCH_OPTIONS of _add: num_warps is 0"),
        ("[4]", "LAUNCH_OPTIONS is no dictionary of dictionaries"),
    ],
)
def test_describe_refuses_launch_options_that_would_be_left_out(family: Family, options: str, want: str) -> None:
    (family.folder / "add.py").write_text(f"LAUNCH_OPTIONS = {options}\n{ADD}")
    check_refused(family, want)


@pytest.mark.parametrize(
    ("line", "want"),
    [
        ("import no_such_module", "add.py:1: error: importing this kernel module fails: ModuleNotFoundError"),
        ("raise SystemExit(0)", "add.py:1: error: importing this kernel module fails: SystemExit"),
        ("1 / 0", "add.py:1: error: importing this kernel module fails: ZeroDivisionError"),
    ],
)
def test_describe_names_the_line_at_which_an_import_fails(family: Family, line: str, want: str) -> None:
    (family.folder / "add.py").write_text(f"{line}\n{ADD}")
    check_refused(family, want)


def test_describe_refuses_an_autotuned_kernel(family: Family) -> None:
    family.edit("add.py", "@triton.jit", "@triton.autotune([triton.Config({})], key=[])\n@triton.jit")
    check_refused(family, "_add is an Autotuner; expected a plain @triton.jit function")


def test_describe_refuses_a_kernel_that_a_module_defines_twice(family: Family) -> None:
    (family.folder / "add.py").write_text(ADD + ADD.partition("import triton.language as tl\n")[2])
    check_refused(family, "_add is also defined at line")


def test_compile_follows_a_file_that_a_kernel_reads(family: Family) -> None:
    (family.folder / "numbers.txt").write_text("1")
    family.edit("add.py", "import triton\n", "from pathlib import Path\nimport triton\n")
    family.edit("add.py", "\n\n@triton.jit", '\nSTEP = tl.constexpr(int(Path(__file__).with_name("numbers.txt").read_text()))\n\n\n@triton.jit')
    family.edit("add.py", "+ 1", "+ STEP")
    first = family.compile([need("_add", Class.ANY)])
    (family.folder / "numbers.txt").write_text("2")
    second = family.compile([need("_add", Class.ANY)])
    assert (first.compiled, second.compiled) == (1, 1)
    assert first.variants[0].cubin != second.variants[0].cubin


def test_compile_recompiles_a_truncated_result(family: Family) -> None:
    family.compile([need("_add", Class.ANY)])
    (stored,) = (family.cache / "variants" / "results").glob("*.json")
    stored.write_bytes(b"")
    assert family.compile([need("_add", Class.ANY)]).compiled == 1


def test_compile_tells_of_a_kernel_that_takes_the_compiler_down(family: Family) -> None:
    family.edit("add.py", "import triton\n", "import os\nimport sys\nimport triton\n\nif 'compile' in sys.argv:\n    os.abort()\n")
    with pytest.raises(CaptureError, match="_add does not compile for sm_121") as raised:
        family.compile([need("_add", Class.ANY)])
    assert raised.value.code == Exit.KERNEL
    assert "ended without a word" in str(raised.value)


def test_describe_and_compile_leave_the_kernels_folder_as_it_is(family: Family) -> None:
    before = sorted(path.name for path in Path(family.folder).rglob("*"))
    family.compile([need("_scale", Class.ANY)])
    assert sorted(path.name for path in Path(family.folder).rglob("*")) == before
