"""What the runtime logs of a refused launch is what `build-capture explain` reads."""

from __future__ import annotations

import io
import re
from pathlib import Path

from build_capture.plan.needs import Class
from build_capture.sets.log import Log, read_log

RUNTIME = Path(__file__).resolve().parents[2] / "zig_bridge" / "set" / "runtime"


def lines_of_tests() -> str:
    """The lines that the runtime's own tests expect it to log, in the order of the file."""
    text = (RUNTIME / "runtime_test.zig").read_text(encoding="utf-8")
    heads = re.findall(r'"(?:err|warn) ((?:no captured|several captured|_general:).*)\\n"', text)
    details = re.findall(r"^ *\\\\err (.*)$", text, re.MULTILINE)
    first_details = details[: details.index(next(line for line in details if line.startswith("the nearest"))) + 1]
    return "\n".join([heads[0], *first_details, "reason=error (MissingTritonVariant)", *heads[1:], ""])


def read(text: str) -> Log:
    """What `explain` takes from it, as an engine's log would hold it."""
    return read_log(io.BytesIO("".join(f"error(aot): {line}\n" for line in text.splitlines()).encode()))


def test_explain_reads_what_the_runtime_logs() -> None:
    log = read(lines_of_tests())
    missing, pinned, ambiguous, fallback = log.failures
    assert [failure.kind for failure in log.failures] == ["missing", "missing", "ambiguous", "fallback"]
    assert log.requests == 1
    assert missing.function == pinned.function == "_mixed" and not missing.is_cut
    classes = {argument.name: (argument.type, argument.class_) for argument in missing.arguments}
    assert classes == {
        "X": ("*bf16", Class.UNALIGNED),
        "N": ("i32", Class.DIV16),
        "M": ("i32", Class.ANY),
        "eps": ("fp32", None),
        "seed": ("u64", Class.ANY),
    }
    assert [(constexpr.name, constexpr.value) for constexpr in missing.constexprs] == [("D", "64")]
    assert (pinned.num_warps, pinned.num_stages) == (4, None)
    assert ambiguous.function == "_pinned"
    assert (fallback.function, fallback.variant) == ("_general", "0123456789ab")


def test_a_line_that_is_not_the_engines_is_not_read() -> None:
    log = read(lines_of_tests().replace("no captured Triton variant", "no variant"))
    assert [failure.kind for failure in log.failures] == ["ambiguous", "fallback"]
