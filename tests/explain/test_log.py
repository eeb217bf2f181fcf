"""The reader of logs: every form in which the contract's lines come, and memory that does not grow with them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from build_capture.plan.needs import Class
from build_capture.sets import log as log_module
from build_capture.sets.log import Log, LoggedFailure, read_log
from tests.explain.logs import CUT, WHOLE, prefixed, write_log

ALL = {
    "Q": ("*bf16", Class.ALIGNED, None),
    "OFF": ("*i64", Class.ALIGNED, None),
    "ITEMS": ("*i32", Class.UNALIGNED, None),
    "eps": ("fp32", None, None),
    "seed": ("u64", Class.ANY, 7),
    "W": ("i32", Class.ANY, 2),
}


def read(text: str | bytes) -> Log:
    """What a log says."""
    return read_log(io.BytesIO(text.encode() if isinstance(text, str) else text))


def arguments(failure: LoggedFailure) -> dict[str, tuple[str, Class | None, int | None]]:
    """Name -> type, class and value."""
    return {argument.name: (argument.type, argument.class_, argument.value) for argument in failure.arguments}


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        WHOLE.replace("\n", "\r\n"),
        WHOLE.rstrip("\n"),
        WHOLE.replace("error:", "\x1b[31merror:\x1b[0m").replace("  Q", "\x1b[2m  Q"),
        prefixed(WHOLE, "2026-11-29T12:00:0{n}.123Z engine-1  | "),
        prefixed(WHOLE, "Nov 29 12:00:0{n} host engine[4711]: err(cuda): "),
        prefixed(WHOLE, "[  {n}.5] error: "),
        "".join(json.dumps({"log": f"{line}\n", "stream": "stderr"}) + "\n" for line in WHOLE.splitlines()),
        "info: started\n" * 3 + WHOLE + "info: goes on\n" * 3,
        WHOLE.replace("  W:", "info: another line: i32\n  W:"),
        WHOLE.replace("  W:", "info: loading W: i32 5 ms\ninfo: loading ...\n  W:"),
        # Without the mark of alignment the address tells it.
        WHOLE.replace(" (16-aligned true)", "").replace(" (16-aligned false)", ""),
    ],
)
def test_read_log_whole(text: str) -> None:
    log = read(text)
    (failure,) = log.failures
    assert (failure.kind, failure.function, arguments(failure)) == ("missing", "_shared", ALL)
    assert [(one.name, one.value) for one in failure.constexprs] == [("H", "24"), ("SCALE", "0.0625")]
    assert (failure.num_warps, failure.num_stages, failure.is_cut, failure.is_mixed, failure.times) == (4, 1, False, False, 1)
    assert log.requests == 1


@pytest.mark.parametrize(
    "text",
    [
        CUT,
        f"12:00:01 svc-1 | {CUT} reason=error (MissingTritonVariant) prompt=75187",
        CUT.replace("…", "..."),
        CUT.replace(" for this launch", ""),
        "no captured Triton variant of _shared for this launch:\n  Q: *bf16\n  …\n  W: i32 2\n",
        "no captured Triton variant of _shared for this launch:\n  Q: *bf16\n  W: i32 2\n",
    ],
)
def test_read_log_cut(text: str) -> None:
    (failure,) = read(text).failures
    assert arguments(failure) == {"Q": ("*bf16", None, None), "W": ("i32", Class.ANY, 2)}
    assert failure.is_cut


@pytest.mark.parametrize("text", [WHOLE, prefixed(WHOLE, "svc-1 | ")])
def test_read_log_that_ends_among_a_launchs_lines_is_cut(text: str) -> None:
    lines = text.splitlines(keepends=True)
    for count in range(2, len(lines) - 1):
        # With the next line begun, or not; with empty lines; with another stream's lines between.
        for end in ("", lines[count][:-9], "\n\n"):
            (failure,) = read("".join(lines[:count]) + end).failures
            assert failure.is_cut and failure.is_last, (count, end)
        (failure,) = read("".join(lines[:count]) + "info: goes on\n").failures
        assert not failure.is_last, count
    other = prefixed(WHOLE.replace("_shared", "_tail"), "svc-2 | ").splitlines(keepends=True)
    both = [failure for pair in zip(lines[:5], other[:4] + other[-1:], strict=True) for failure in pair]
    assert [(failure.function, failure.is_last) for failure in read("".join(both[:-1])).failures] == [("_shared", True), ("_tail", True)]


def test_read_log_of_names_that_are_not_ascii() -> None:
    (failure,) = read(WHOLE.replace("_shared", "_größe").replace("ITEMS", "Ωs").replace("constexpr H", "constexpr Höhe")).failures
    assert failure.function == "_größe" and list(arguments(failure)) == ["Q", "OFF", "Ωs", "eps", "seed", "W"]
    assert failure.constexprs[0].name == "Höhe"
    (fallback,) = read("_größe: a launch whose specialization no captured variant has runs variant 0123456789ab (assumes less)").failures
    assert fallback.function == "_größe"


def test_read_log_whole_on_one_long_line() -> None:
    many = " ".join(f"argument_with_a_long_name_{number:03}: *bf16 at 0x7f3a10000000 (16-aligned true)," for number in range(1000))
    (failure,) = read(f"svc | no captured Triton variant of _f for this launch: {many} W: i32 2 reason=error (MissingTritonVariant)\n").failures
    assert len(many) > 1 << 16 and len(failure.arguments) == 1001 and not failure.is_cut
    assert arguments(failure)["W"] == ("i32", Class.ANY, 2)


def test_read_log_head_alone_is_cut() -> None:
    (failure,) = read("no captured Triton variant of _shared for this launch (warps null, stages 2):").failures
    assert (failure.arguments, failure.is_cut, failure.num_warps, failure.num_stages) == ((), True, None, 2)


@pytest.mark.parametrize(("value", "want"), [("1", Class.ONE), ("0", Class.DIV16), ("-16", Class.DIV16), ("-1", Class.ANY), ("256", Class.DIV16)])
def test_read_log_classes_of_ints(value: str, want: Class) -> None:
    (failure,) = read(WHOLE.replace("W: i32 2", f"W: i32 {value}").replace("seed: u64 7", "seed: u64 1")).failures
    assert arguments(failure)["W"] == ("i32", want, int(value))
    # No engine folds a u64.
    assert arguments(failure)["seed"] == ("u64", Class.ANY, 1)


def test_read_log_other_kinds() -> None:
    log = read(
        "error: several captured Triton variants of _tail match; pin num_warps/num_stages (Launch)\n"
        "info: reason=error (AmbiguousTritonVariant)\n"
        "warning: _merge: a launch whose specialization no captured variant has runs variant 0123456789ab (assumes less)\n"
    )
    told = [(failure.kind, failure.function, failure.variant) for failure in log.failures]
    assert told == [("ambiguous", "_tail", ""), ("fallback", "_merge", "0123456789ab")]
    assert log.requests == 1


def test_read_log_counts_launches_of_one_specialization_once() -> None:
    other = WHOLE.replace("W: i32 2", "W: i32 33").replace("0x7f3a10000104", "0x7f3a10000208")
    log = read(WHOLE + other + WHOLE + WHOLE.replace("W: i32 2", "W: i32 16"))
    assert [(failure.times, arguments(failure)["W"], failure.line) for failure in log.failures] == [
        (3, ("i32", Class.ANY, 33), 1),
        (1, ("i32", Class.DIV16, 16), 31),
    ]
    assert (log.lines, log.requests) == (40, 4)


def test_read_log_interleaved_streams() -> None:
    one, two = prefixed(WHOLE, "12:00:0{n} svc-1 | "), prefixed(WHOLE.replace("_shared", "_tail").replace("W: i32 2", "W: i32 1"), "12:00:0{n} svc-2 | ")
    lines = [line for pair in zip(one.splitlines(), two.splitlines(), strict=True) for line in pair]
    first, second = read("\n".join(lines)).failures
    assert (first.function, arguments(first), first.is_mixed) == ("_shared", ALL, False)
    assert (second.function, arguments(second), second.is_mixed) == ("_tail", ALL | {"W": ("i32", Class.ONE, 1)}, False)


def test_read_log_interleaved_without_prefix_is_said_to_be_mixed() -> None:
    lines = [line for pair in zip(WHOLE.splitlines(), WHOLE.replace("_shared", "_tail").splitlines(), strict=True) for line in pair]
    failures = read("\n".join(lines)).failures
    assert {failure.function for failure in failures} == {"_shared", "_tail"}
    assert all(failure.is_mixed for failure in failures)


def test_read_log_lines_far_behind_belong_to_no_failure() -> None:
    head, rest = WHOLE.split("  W: i32 2\n")
    (near,) = read(head + "x\n" * 400 + "  W: i32 2\n" + rest).failures
    (far,) = read(head + "x\n" * 600 + "  W: i32 2\n" + rest).failures
    assert "W" in arguments(near) and "W" not in arguments(far)


def test_read_log_ends_without_heads() -> None:
    log = read("reason=error (MissingTritonVariant) prompt=1\nreason=error (MissingTritonVariant) prompt=2\n")
    assert (log.failures, log.requests) == ((), 2)


def test_read_log_of_nothing() -> None:
    assert read("") == Log(0, (), 0, 0)
    assert read("a\nb") == Log(2, (), 0, 0)
    assert read(bytes(range(256)) * 100).failures == ()


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
def test_read_log_does_not_depend_on_blocks(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ("info: x\n" + WHOLE + prefixed(WHOLE.replace("_shared", "_tail"), "svc | ") + CUT + "\n") * 2
    want = read(text)
    # A longer line is read as several; no line here is so long.
    monkeypatch.setattr(log_module, "BLOCK_BYTES", max(block, 200))

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(block)

    assert read_log(Slow(text.encode())) == want
    assert len(want.failures) == 3


def test_read_log_bounds_what_it_keeps() -> None:
    log = read("".join(f"no captured Triton variant of _f{number} for this launch:\n" for number in range(1500)))
    assert (len(log.failures), log.untold) == (1000, 500)
    # A line without an end, and arguments without an end.
    assert read(b"no captured Triton variant of _f for this launch: " + b"x" * (3 << 20)).failures[0].function == "_f"
    (endless,) = read("no captured Triton variant of _f for this launch:\n" + "".join(f"a{number}: i32 1\n" for number in range(3000))).failures
    assert len(endless.arguments) == 1024


MEASURE = """
import json, resource, sys, time
from build_capture.sets.log import read_log
read_log(open(sys.argv[1], "rb"))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.process_time()
log = read_log(open(sys.argv[2], "rb"))
print(json.dumps({
    "seconds": time.process_time() - started,
    "kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before,
    "failures": [[failure.function, failure.times] for failure in log.failures],
}))
"""


@pytest.mark.parametrize("mebibytes", [5, pytest.param(50, marks=pytest.mark.full)])
def test_read_log_long(mebibytes: int, tmp_path: Path) -> None:
    """The failure inside of so many bytes of other lines is found, as the one alone is, in bounded memory and time."""
    small, large = tmp_path / "small", tmp_path / "large"
    with small.open("wb") as stream:
        write_log(stream, 1 << 20, [])
    with large.open("wb") as stream:
        write_log(stream, mebibytes << 20, [WHOLE, prefixed(WHOLE, "svc-1 | ")])
    finished = subprocess.run([sys.executable, "-c", MEASURE, small, large], capture_output=True, text=True, check=True)
    measured = json.loads(finished.stdout)
    assert measured["failures"] == [["_shared", 2]]
    # Measured: 0.1 s for 50 MiB, and no more memory than for 1 MiB.
    assert measured["seconds"] < 5 * mebibytes / 50
    assert measured["kib"] < 8 << 10


@pytest.mark.parametrize("unit", [b"x", b"x ", b"1:", b": ", b"x: *a", b"\x1b[", b"x: i32 ", b"constexpr ", b"(16-aligned ", b"\xe2\x80\xa6", b"0x"])
def test_read_log_takes_time_that_grows_with_the_log_alone(unit: bytes) -> None:
    started = time.process_time()
    read(b"no captured Triton variant of _f for this launch:\n" + unit * ((1 << 18) // len(unit)) + b"!\nx: no captured Triton variant of _f" + unit * 9999)
    assert time.process_time() - started < 2
