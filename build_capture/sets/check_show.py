"""What a check found, for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from build_capture.read.profile import Limits
from build_capture.sets.check import FAILS, Checked, counts
from build_capture.sets.limits import capture_command, show_limits, show_recorded
from build_capture.words import counted

TITLES = {
    "missing": "MISSING",
    "ambiguous": "AMBIGUOUS",
    "cubin": "CUBIN",
    "general": "more general",
    "pins": "pinned",
    "alias": "alias",
    "unused": "unused",
}


def findings_table(checked: Checked) -> Table:
    """A row a finding, what fails first."""
    table = Table(title=f"{checked.set} for {checked.target}, rule {checked.rule}", title_justify="left")
    for heading in ("", "what", "why", "first round", "launches"):
        table.add_column(heading, justify="right" if heading == "launches" else "left", overflow="fold")
    order = list(TITLES)
    for finding in sorted(checked.findings, key=lambda finding: (order.index(finding.kind), finding.what)):
        style = "bold red" if finding.kind in FAILS else ""
        launches = f"{finding.launches:,}" if finding.launches else ""
        table.add_row(Text(TITLES[finding.kind], style), Text(finding.what), Text(finding.why), Text(finding.witness or ""), launches)
    return table


def summary_lines(checked: Checked) -> Iterator[str]:
    """The result in a few lines."""
    yield from (f"note: {note}" for note in checked.notes)
    found = counts(checked)
    told = [counted(found[kind], "damaged cubin") if kind == "cubin" else f"{found[kind]} {title.lower()}" for kind, title in TITLES.items() if found[kind]]
    needs = counted(checked.needs, "need" if checked.limits else "declared launch")
    served = f"{checked.served} of {needs} served by {counted(checked.entries, 'entry')}; {counted(checked.cubins, 'cubin')} opened"
    yield "; ".join([served, ", ".join(told)]) if told else served
    if checked.limits:
        yield f"limits: {show_limits(checked.limits)}"
        yield from _remedy(checked, checked.limits, is_missing=found["missing"] > 0)
    yield f"covered: {checked.set} for {checked.target}" if checked.covered else "NOT covered"


def _remedy(checked: Checked, limits: Limits, *, is_missing: bool) -> Iterator[str]:
    """Of a set with findings: what it was captured for, where that is something else, and what captures all that is missing."""
    if checked.findings and checked.recorded and checked.recorded != limits:
        yield show_recorded(checked.recorded)
    if is_missing:
        known = [limits, *([checked.recorded] if checked.recorded else [])]
        yield f"capture: {capture_command(known, checked.policy, checked.target)}"
