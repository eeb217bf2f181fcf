"""What a check found, for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from build_capture.sets.check import FAILS, Checked, counts

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
    told = [f"{found[kind]} {title.lower()}" for kind, title in TITLES.items() if found[kind]]
    what = "needs" if checked.limits else "declared launches"
    served = f"{checked.served} of {checked.needs} {what} served by {checked.entries} entries; {checked.cubins} cubins opened"
    yield "; ".join([served, ", ".join(told)]) if told else served
    if checked.limits:
        limits = checked.limits
        yield f"limits: {limits.parallel} streams, {limits.window_rows} rows a window, prompts of {limits.prompt_rows} rows"
    yield "covered" if checked.covered else "NOT covered"
