"""Facts that Python and Zig both hold are the same."""

from __future__ import annotations

import re
from pathlib import Path

from build_capture.plan.domains import CALLS_MAX

ROOT = Path(__file__).resolve().parents[2]


def test_calls_of_a_method_are_bounded_alike_in_python_and_zig() -> None:
    text = (ROOT / "zig_bridge" / "coverage" / "domains.zig").read_text(encoding="utf-8")
    match = re.search(r"calls_of_method_max = (\d+) << (\d+);", text)
    assert match and int(match[1]) << int(match[2]) == CALLS_MAX
