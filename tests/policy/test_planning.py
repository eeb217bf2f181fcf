"""What planning and merging refuse, on made-up kernels."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from build_capture.capture.compile import Compiled, Variant
from build_capture.capture.policy import compact
from build_capture.capture.policy.apply import Compiles
from build_capture.capture.policy.compact import merge
from build_capture.capture.policy.generic import mergeable
from build_capture.capture.records import KernelParameter
from build_capture.errors import CaptureError, Exit
from build_capture.plan.needs import Class, Need, Parameter
from build_capture.plan.probe import Probed
from build_capture.plan.resolve import resolve
from build_capture.sets.elf import Cubin, Function
from tests.plan.test_resolve import BLOCK, DECLARATIONS, KERNEL, PROFILE, N, X, probed
from tests.policy.conftest import need
from tests.sets.test_pack import RESULT


def test_resolve_refuses_an_annotation_that_gives_an_argument_another_type() -> None:
    typed = msgspec.structs.replace(KERNEL, parameters=[*KERNEL.parameters[:1], KernelParameter("n", False, False, typed="i64"), *KERNEL.parameters[2:]])
    with pytest.raises(CaptureError, match="the launch passes n as i32; its annotation in _add .add.py:7. makes it i64, which no such launch can take"):
        resolve(Probed(1, 1, [probed([X, N], [BLOCK])]), [typed], PROFILE, DECLARATIONS)
    fitting = msgspec.structs.replace(typed, parameters=[*KERNEL.parameters[:1], KernelParameter("n", False, False, typed="i32"), *KERNEL.parameters[2:]])
    assert len(resolve(Probed(1, 1, [probed([X, N], [BLOCK])]), [fitting], PROFILE, DECLARATIONS)) == 1


def test_mergeable_are_ints_and_tables_of_ints_and_no_data() -> None:
    types = {"*i32": True, "*i64": True, "*u8": True, "i32": True, "u64": True, "*bf16": False, "*fp32": False, "fp32": False}
    parameters = [Parameter(name, name, None if name == "fp32" else Class.ANY) for name in types]
    assert mergeable(msgspec.structs.replace(need("_rows", "+ + 1"), parameters=parameters)) == tuple(name for name, whole in types.items() if whole)


@pytest.fixture(autouse=True)
def local_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cubins of this module stand for code with as many bytes of local memory as they are long."""
    monkeypatch.setattr(compact, "parse_cubin", lambda cubin: Cubin(121, {"_k": Function(None, 0, None, len(cubin))}, line_tables=False))


class Made:
    """Compiles by a rule: `widths` says what the code for a need accesses, None that it does not compile."""

    def __init__(self, widths: dict[str, dict[str, int] | None], spilling: Sequence[str] = ()) -> None:
        self.widths = widths
        self.spilling = spilling
        self.asked: list[str] = []

    def attempt(self, codes: Sequence[Need]) -> None:
        """Note what is asked for."""
        self.asked += sorted({code.classes for code in codes})

    def variant(self, code: Need) -> Variant | None:
        """What the rule says."""
        widths = self.widths.get(code.classes, {"ld.global.32": 1})
        cubin = bytes(16) if code.classes in self.spilling else b""
        return None if widths is None else Variant(code, msgspec.structs.replace(RESULT, widths=widths), cubin)


def test_merge_keeps_apart_what_has_no_generic_code_and_says_so() -> None:
    made = Made({"T=unaligned W=any": None})
    codes = [need("_rows", "+ + 16"), need("_rows", "- + 1")]
    merges, apart = merge(codes, made)
    # Together they do not compile; T alone may be merged, and then W cannot be.
    assert {code.classes: merges[code.identity].classes for code in codes} == {"W=div16": "T=unaligned W=div16", "T=unaligned W=one": "T=unaligned W=one"}
    assert [(each.arguments, each.why) for each in apart] == [(("W",), "no code at all: it does not compile")]


def test_attempt_passes_over_what_does_not_compile_and_over_nothing_else() -> None:
    def compile_one(codes: Sequence[Need]) -> Compiled:
        if any(code.classes == "W=div16" for code in codes):
            raise CaptureError("it does not compile", code=fault)
        return Compiled([Variant(code, RESULT, b"") for code in codes], len(codes), 0)

    codes = [need("_rows", "+ + 16"), need("_rows", "+ + ?")]
    fault = Exit.KERNEL
    compiles = Compiles(compile_one)
    compiles.attempt(codes)
    assert [compiles.variant(code) is not None for code in codes] == [False, True] and compiles.compiled == 1
    fault = Exit.OUR_FAULT
    with pytest.raises(CaptureError):
        Compiles(compile_one).attempt(codes)


def test_merge_keeps_apart_what_would_spill_registers() -> None:
    codes = [need("_words", "+ +"), need("_words", "- +")]
    merges, apart = merge(codes, Made({}, spilling=["T=unaligned"]))
    assert [merges[code.identity] for code in codes] == codes
    assert [each.why for each in apart] == ["16 bytes of local memory instead of 0 (aligned)"]
    assert merge(codes, Made({}, spilling=["T=unaligned", "aligned"]))[1] == []


def test_merge_asks_for_nothing_where_no_class_varies() -> None:
    made = Made({})
    merges, apart = merge([need("_rows", "+ + 16")], made)
    assert made.asked == [] and apart == [] and [code.classes for code in merges.values()] == ["W=div16"]
