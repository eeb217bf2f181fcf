"""`build-capture explain`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from build_capture.commands.shared import print_json
from build_capture.errors import CaptureError, Exit, Place
from build_capture.read.profile import LIMITS_MAX
from build_capture.words import counted

if TYPE_CHECKING:
    from build_capture.pipeline.plan import Opened
    from build_capture.sets.explain import Answer, Explanation
    from build_capture.sets.log import Log
    from build_capture.sets.log_lines import LoggedArgument


@click.command("explain")
@click.argument("log", type=click.File("rb"), default="-")
@click.option("--set", "set_path", type=click.Path(path_type=Path), metavar="SET", help="The set that the engine had: shows which variants there are instead.")
@click.option("--profile", type=click.Path(path_type=Path), help="The family's profile: shows which rounds ask for the launch.")
@click.option("--parallel", type=click.IntRange(1, LIMITS_MAX["parallel"]), help="With --profile: streams that a round may hold. Default: the profile's.")
@click.option("--window-rows", type=click.IntRange(1, LIMITS_MAX["window_rows"]), help="With --profile: rows of a stream's window. Default: the profile's.")
@click.option("--target", help="The engine's GPU, such as sm_121: of the sets below a prefix the one for it; and what to capture for. Default: the set's.")
@click.option("--zig", help="With --profile, the Zig compiler. Default: zig on PATH, else the ziglang package.")
@click.option("--reader", help="With --profile, a build-capture-reader that this Zig compiled. Default: found or compiled.")
@click.option("--cache-dir", "cache", type=click.Path(path_type=Path), help="With --profile. Default: .zig-cache/build-capture by the profile.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def explain_command(
    context: click.Context,
    log: BinaryIO,
    set_path: Path | None,
    profile: Path | None,
    parallel: int | None,
    window_rows: int | None,
    target: str | None,
    zig: str | None,
    reader: str | None,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Explain the launches without a variant that an engine's LOG tells of; without LOG, standard input.

    Exit 3: the log tells of such a launch. Exit 2: it tells of none, so there is nothing to explain.
    """
    from build_capture.pipeline.plan import Request, open_profile
    from build_capture.sets.explain import explain
    from build_capture.sets.log import read_log
    from build_capture.sets.read import read_set
    from build_capture.targets import parse_target

    wanted = None if target is None else parse_target(target)
    found = read_set(set_path, wanted) if set_path else None
    opened: Opened | None = None
    if profile:
        opened = open_profile(Request(profile, parallel, window_rows, target=None, zig=zig, reader=reader, cache=cache))
    said = read_log(log)
    if not said.failures and not said.requests:
        raise _nothing(said, getattr(log, "name", "-"))
    explanation = explain(said, found, opened, wanted.name if wanted else "")
    if as_json:
        print_json(explanation)
    else:
        for note in found.notes if found else ():
            click.echo(f"note: {note}", err=True)
        for line in _lines(explanation):
            click.echo(line)
    context.exit(Exit.NOT_COVERED)


def _nothing(said: Log, name: str) -> CaptureError:
    """That there is nothing to explain, and why."""
    where = Place("standard input" if name in ("-", "<stdin>") else name)
    if said.of_coverage:
        what = "this is the coverage test's output, not an engine's log: it names each launch, the nearest variant and the command that captures it"
        return CaptureError(what, where=where, mend="run what follows its `try:`")
    what = f"nothing in {counted(said.lines, 'line')} tells of a launch without a variant"
    return CaptureError(what, where=where, mend="expected `no captured Triton variant of …`, as engines print it")


def _lines(explanation: Explanation) -> Iterator[str]:
    for answer in explanation.answers:
        yield from _answer(answer)
        yield ""
    if explanation.untold:
        yield f"and {explanation.untold:,} further failures, of more kinds than are told apart"
    if not explanation.answers:
        yield "requests ended for want of a variant, but the lines before, which name the launch, are not in this log"
    kinds, lines = counted(len(explanation.answers), "kind"), counted(explanation.lines, "line")
    yield f"{kinds} of failure in {lines}; requests that ended so: {explanation.requests:,}"


_TITLES = {
    "missing": "no variant for a launch",
    "ambiguous": "several variants fit a launch",
    "fallback": "a more general variant runs",
}


def _answer(answer: Answer) -> Iterator[str]:
    failure = answer.failure
    times = "once" if failure.times == 1 else f"{failure.times:,} times"
    yield f"{failure.function}: {_TITLES[failure.kind]}, {times}, first in line {failure.line:,}"
    if failure.arguments:
        parts = [", ".join(map(_argument, failure.arguments)) + (", …" if failure.is_cut else "")]
        parts += [" ".join(f"{constexpr.name}={constexpr.value}" for constexpr in failure.constexprs)] if failure.constexprs else []
        pins = [f"{name} {value}" for name, value in (("warps", failure.num_warps), ("stages", failure.num_stages)) if value is not None]
        yield from _row("launch", "; ".join([*parts, *([", ".join(pins)] if pins else [])]))
    for missing in answer.missing:
        yield from _row("missing", f"{_argument(missing.argument)}; variants are there for {', '.join(missing.there)}")
    if failure.variant:
        yield from _row("runs", failure.variant)
    for near in answer.near:
        yield from _row("nearby", f"{near.hash[:12]}: {'; '.join(near.differences) or 'no difference'}")
    if answer.near_left:
        yield from _row("nearby", f"and {answer.near_left} more")
    if answer.asking and answer.asking.rounds:
        yield from _row("rounds", answer.asking.rounds)
    if answer.command:
        yield from _row("capture", answer.command)
    for note in answer.notes:
        yield from _row("note", note)


def _row(heading: str, text: str) -> Iterator[str]:
    yield f"  {heading:<8} {text}"


def _argument(argument: LoggedArgument) -> str:
    class_ = argument.class_.value if argument.class_ else ""
    value = "" if argument.value is None else str(argument.value)
    shown = f"{value} ({class_})" if value and class_ else value or class_
    return f"{argument.name}: {argument.type} {shown}".rstrip()
