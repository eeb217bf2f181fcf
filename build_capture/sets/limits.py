"""The limits that a set was captured for, in words and as the command that captures for them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from build_capture.read.profile import Limits
from build_capture.sets.model import CapturedSet
from build_capture.words import counted


def recorded_limits(captured: CapturedSet) -> Limits | None:
    """The limits that a set says it was captured for."""
    limits = captured.provenance.get("limits")
    try:
        return msgspec.convert(limits, Limits) if limits is not None else None
    except msgspec.ValidationError:
        return None


def show_recorded(limits: Limits) -> str:
    """What a set was captured for, as a note: by the names of the options."""
    prompts = f", prompt rows {limits.prompt_rows}" if limits.prompt_rows else ""
    return f"the set was captured for parallel {limits.parallel}, window rows {limits.window_rows}{prompts}"


def show_limits(limits: Limits) -> str:
    """Limits for people: `2 streams, 16 rows a window, prompts in chunks of 512 rows`; nothing of prompts where there are none."""
    prompts = [f"prompts in chunks of {counted(limits.prompt_rows, 'row')}"] if limits.prompt_rows else []
    return ", ".join([counted(limits.parallel, "stream"), f"{counted(limits.window_rows, 'row')} a window", *prompts])


def capture_command(known: Sequence[Limits], policy: str, target: str) -> str:
    """What captures for all of the known limits; the numbers are left to fill in where none are known. `policy` and `target` may be empty."""
    parallel = max((limits.parallel for limits in known), default="N")
    rows = max((limits.window_rows for limits in known), default="ROWS")
    policy = f" -Dcapture-policy={policy}" if policy not in ("", "exact") else ""
    target = f" -Dcapture-target={target}" if target else ""
    return f"zig build -Dcapture=true -Dparallel={parallel} -Dwindow-rows={rows}{policy}{target}"
