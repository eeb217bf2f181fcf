"""Needs and declarations for people and for programs."""

from __future__ import annotations

import msgspec
from rich.table import Table

from build_capture.pipeline.plan import Planned
from build_capture.plan.needs import Need, Witness
from build_capture.plan.sources import KernelSource, kernel_sources, show_source
from build_capture.plan.table import DomainRow
from build_capture.read.profile import Limits
from build_capture.read.records import Launch, Method
from build_capture.words import counted


class NeedsDocument(msgspec.Struct, frozen=True):
    """What `needs --json` prints."""

    family: str
    target: str
    limits: Limits
    rounds: int
    calls: int
    """Calls of methods over their domains."""
    launches: int
    kernels: list[KernelSource]
    needs: list[Need]


def needs_document(planned: Planned) -> NeedsDocument:
    """The needs with what they were worked out for."""
    return NeedsDocument(
        family=planned.profile.family,
        target=planned.target.name,
        limits=planned.limits,
        rounds=planned.probed.rounds,
        calls=planned.probed.calls,
        launches=planned.probed.launches,
        kernels=kernel_sources(planned.needs),
        needs=planned.needs,
    )


def needs_table(planned: Planned) -> Table:
    """A row a need: its options, what tells it apart, how many launches ask for it, and the first round."""
    probed = planned.probed
    driven = " and ".join([*([counted(probed.rounds, "round")] if probed.rounds else []), *([f"{counted(probed.calls, 'call')} over domains"] if probed.calls else [])])
    table = Table(title=f"{counted(len(planned.needs), 'need')} of {counted(probed.launches, 'launch')} in {driven}", title_justify="left")
    for heading in ("kernel", "warps", "stages", "specialization", "launches", "first round"):
        table.add_column(heading, justify="right" if heading in ("warps", "stages", "launches") else "left")
    varying = _varying_constexprs(planned.needs)
    for need in planned.needs:
        options = (str(need.options.num_warps), str(need.options.num_stages))
        named = (f"{name}={need.constexprs[name].python}" for name in sorted(varying[need.function]))
        specialization = " ".join([need.classes, *named])
        table.add_row(need.function, *options, specialization, f"{need.launches:,}", show_witness(need.witness))
    return table


def sources_table(planned: Planned) -> Table:
    """A row a kernel: whether its needs come from rounds or from domains, and which alignments the rounds prove impossible."""
    table = Table(title="where the needs come from", title_justify="left")
    for heading in ("kernel", "from", "pointers in every round"):
        table.add_column(heading)
    for source in kernel_sources(planned.needs):
        table.add_row(source.function, source.source, show_source(source))
    return table


def _varying_constexprs(needs: list[Need]) -> dict[str, set[str]]:
    """Function -> the constexprs that tell its needs apart."""
    first: dict[str, Need] = {}
    varying: dict[str, set[str]] = {}
    for need in needs:
        other = first.setdefault(need.function, need)
        differing = {name for name, value in need.constexprs.items() if other.constexprs.get(name) != value}
        varying.setdefault(need.function, set()).update(differing)
    return varying


def show_witness(witness: Witness) -> str:
    """A round in words: `2 streams, 17 rows (16+1), items 3`."""
    if witness.kind == "call":
        values = ", ".join(f"{name} {'null' if value is None else value}" for name, value in witness.layout.items())
        return f"{witness.method}: {values}" if values else f"{witness.method}"
    if witness.kind == "prompt":
        return f"prompt chunk of {counted(witness.rows, 'row')}"
    # A flag of the layout is named where it is set; anything else with its value.
    shown = (name if value is True else f"{name} {value}" for name, value in witness.layout.items() if value is not False)
    layout = "".join(f", {part}" for part in shown)
    windows = "+".join(map(str, witness.windows))
    return f"{counted(witness.streams, 'stream')}, {counted(witness.rows, 'row')} ({windows}){layout}"


class DeclarationsDocument(msgspec.Struct, frozen=True):
    """What `declarations --json` prints."""

    files: list[str]
    """Relative to the declaration file's folder."""
    methods: list[Method]
    launches: list[Launch]
    domains: list[DomainRow]


def domain_tables(rows: list[DomainRow], profile: str | None) -> list[Table]:
    """What is given, inferred, missing and left to others, each in a table of its own; empty ones are left out."""
    titles = {
        "given": f"given by {profile}",
        "inferred": "inferred",
        "missing": f"to be given, in .domains of {profile or 'capture.zon'}",
    }
    tables = []
    for source, title in titles.items():
        chosen = [row for row in rows if row.source == source]
        if not chosen:
            continue
        table = Table(title=f"{len(chosen)} {title}", title_justify="left")
        for heading in ("line", "method", "parameter", "type", "domain", "because"):
            table.add_column(heading)
        for row in chosen:
            table.add_row(f"{row.file}:{row.line}", row.method, row.parameter, row.type, row.domain, row.reason)
        tables.append(table)
    if left := [row for row in rows if row.source not in titles]:
        table = Table(title=f"{counted(len(left), 'method')} not driven over domains", title_justify="left")
        for heading in ("line", "method", "because"):
            table.add_column(heading)
        for row in left:
            table.add_row(f"{row.file}:{row.line}", row.method, row.reason)
        tables.append(table)
    return tables


def declarations_table(declarations: DeclarationsDocument) -> Table:
    """A row a launch: where it is, what it launches, and what the text shows of it."""
    table = Table(title=counted(len(declarations.launches), "launch"), title_justify="left")
    for heading in ("line", "method", "kernel", "arguments", "constexprs", "behind"):
        table.add_column(heading)
    for launch in declarations.launches:
        arguments = "(seen by the probe)" if launch.arguments is None else " ".join(a.name or "?" for a in launch.arguments)
        constexprs = "(seen by the probe)" if launch.constexprs is None else " ".join(c.name or "?" for c in launch.constexprs)
        place = f"{launch.file}:{launch.line}"
        table.add_row(place, launch.method, launch.function or "(seen by the probe)", arguments, constexprs, launch.condition or "")
    return table
