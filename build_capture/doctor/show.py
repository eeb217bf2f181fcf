"""A diagnosis for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.table import Table

from build_capture.doctor.records import Diagnosis, Tool
from build_capture.doctor.variables import seen_variables


def tables(found: Diagnosis) -> Iterator[Table]:
    """Tools, assemblers, targets, folders, and the variables that are set."""
    yield _table("tools", ("", "version", "state", "where"), [(t.name, t.version or "missing", _state(t), t.path) for t in found.tools])
    assemblers = [(a.version or "none", a.origin, " ".join(name.removeprefix("sm_") for name in a.assembles) or "nothing", a.path) for a in found.assemblers]
    yield _table("assemblers (each tried just now)", ("ptxas", "from", "assembles for sm_", "where"), assemblers)
    by_path = {assembler.path: f"ptxas {assembler.version}" for assembler in found.assemblers}
    yield _table(
        "targets",
        ("target", "Triton assembles with", "state"),
        [(t.target, by_path.get(t.assembler, "nothing"), "good" if t.works else f"bad: {t.problem}") for t in found.targets],
    )
    yield _table("folders", ("", "where", "state"), [(f.what, f.path, "writable" if f.writable else f"bad: {f.problem}") for f in found.folders])
    if chosen := [variable for variable in found.variables if variable.value is not None]:
        rows = [(f"{v.name}={v.value}", v.elsewhere, v.here) for v in chosen]
        yield _table("variables that are set, and change what Triton does elsewhere", ("variable", "elsewhere it", "to a capture it does"), rows)


def lines(found: Diagnosis, environment: Mapping[str, str]) -> Iterator[str]:
    """The GPU, the environment, and the verdict."""
    yield f"GPU: {found.gpu.name} ({found.gpu.target})" if found.gpu.name else f"GPU: none; {found.gpu.problem}. Captures in mode compile need none."
    unset = sum(variable.value is None for variable in found.variables)
    yield (
        f"environment: a compile sees {', '.join(seen_variables(environment)) or 'nothing'} of it alone, and no variable that Triton, LLVM or ptxas reads; "
        f"{unset} more of those are not set"
    )
    yield f"A capture for {found.target} can work here." if found.works else f"A capture for {found.target} cannot work here:"


def _state(tool: Tool) -> str:
    state = "not needed" if tool.state == "good" and not tool.version else tool.state
    return f"{state}: {tool.note}" if tool.note else state


def _table(title: str, headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table
