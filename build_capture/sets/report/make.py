"""Makes a report from what a user names, and writes its forms."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from build_capture.capture.gpu.device import resolve_target
from build_capture.errors import CaptureError, Exit, Place
from build_capture.files import write_if_changed
from build_capture.pipeline.plan import Request
from build_capture.read.profile import DEFAULT_PROFILE
from build_capture.sets.diff import Change, SetDiff, compare
from build_capture.sets.match import Policy
from build_capture.sets.needed import plan_for
from build_capture.sets.read import read_set
from build_capture.sets.report.data import Report, make_report
from build_capture.sets.report.page import page as page_text
from build_capture.sets.report.picture import picture


def make(folder: Path, rule: Policy, against: Path | None, request: Request) -> Report:
    """The report on the set in `folder`. Where the profile of the request is not there, no rounds are driven."""
    target = None if request.target is None else resolve_target(request.target)
    read = read_set(folder, target)
    planned = None
    # A profile that the user names has to be there; the default one need not.
    if request.profile != DEFAULT_PROFILE or DEFAULT_PROFILE.is_file():
        planned = plan_for(read, request, spans=True)
    changes = [] if against is None else _changes(compare(read, read_set(against, target)))
    return make_report(read, planned, rule, changes)


def _changes(found: SetDiff) -> list[str]:
    """What differs, a line each, from this set to the other."""
    lines = [f"only here: {identity}" for identity in found.removed] + [f"only there: {identity}" for identity in found.added]
    for change in found.changed:
        lines.append(f"{change.identity}: {'; '.join(f'{field.name} {_both(field)}' for field in change.fields)}")
    lines += [f"{fact.name}: {_both(fact)}" for fact in found.facts]
    return lines or ["nothing"]


def _both(change: Change) -> str:
    before, after = change.shown
    return f"{before} here, {after} there"


def write(report: Report, *, page: Path | None, svg: Path | None, png: Path | None) -> list[Path]:
    """Write the forms that are asked for; returns their paths. Raises a `CaptureError` where there is nothing to draw."""
    if (svg or png) and not report.grids:
        raise CaptureError("there are no rounds to draw", mend="name the family's profile with --profile")
    _refuse_places(report, [path for path in (page, svg, png) if path is not None])
    forms: dict[Path, bytes] = {}
    if page:
        forms[page] = page_text(report).encode()
    if svg:
        forms[svg] = picture(report).encode()
    if png:
        forms[png] = _png(picture(report))
    for path, data in forms.items():
        write_if_changed(path, data)
    return list(forms)


def _refuse_places(report: Report, paths: Sequence[Path]) -> None:
    """Raise a `CaptureError` for what a form must not replace, a device or a folder, a file of the set, another form, and where there is no folder."""
    own = Path(report.folder).resolve()
    for number, path in enumerate(paths):
        place = path.resolve()
        what = ""
        if place in [other.resolve() for other in paths[:number]]:
            what = "two forms of the report would be written here"
        elif place.is_relative_to(own):
            what = "this lies in the folder of the set, which holds its files alone"
        elif place.exists() and not place.is_file():
            what = "this is no regular file"
        elif not place.parent.is_dir():
            raise CaptureError(f"there is no folder {path.parent}", where=Place(str(path)), mend="make it, or name a file elsewhere")
        if what:
            raise CaptureError(what, where=Place(str(path)), mend="name another file")


def _png(drawing: str) -> bytes:
    if importlib.util.find_spec("resvg_py") is None:
        raise CaptureError("a PNG needs the package resvg-py", mend="`pip install resvg-py`, or take --svg", code=Exit.TOOL)
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=drawing))
