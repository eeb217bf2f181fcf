"""The int32 tables of a round, laid out as an engine uploads them, from the windows of its streams. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

CHUNK = 512
"""Keys of a chunk."""
GROUP = 4
"""Chunks of a group."""
FOLDED_ROWS_LEAST = 64
"""Groups times rows from which on whole groups fold in one program."""
PAIRS = 16
"""(row, query head) pairs of an item."""
KEPT = 3
"""Rows that a convolution keeps of what came before the window."""


@dataclass(frozen=True)
class Window:
    """What one stream brings to a round."""

    committed: int
    """Keys of the stream before the window."""
    parents: tuple[int, ...]
    """Each row's parent row within the window, -1 for the root; a parent comes before its children."""

    @property
    def rows(self) -> int:
        """Rows of the window."""
        return len(self.parents)


@dataclass(frozen=True)
class Upload:
    """One host-to-device copy: int32 words, and where its tables begin."""

    words: list[int]
    """The tables behind each other."""
    places: dict[str, int] = field(default_factory=dict)
    """Table -> its first word."""


def chain(committed: int, rows: int) -> Window:
    """A window without branches."""
    return Window(committed, tuple(range(-1, rows - 1)))


def groups(committed: int, rows: int, chunk: int = CHUNK) -> int:
    """Whole groups of the committed keys that fold in one program each."""
    whole = committed // (GROUP * chunk)
    return whole if whole * rows >= FOLDED_ROWS_LEAST else 0


def slots(committed: int, rows: int, chunk: int = CHUNK) -> int:
    """Partials that each row of such a window has."""
    folded = groups(committed, rows, chunk)
    return folded - (-(committed + rows) // chunk) - GROUP * folded


def paths(window: Window) -> list[list[int]]:
    """Each row's path, root first, ending in the row."""
    found: list[list[int]] = []
    for row, parent in enumerate(window.parents):
        found.append([*(found[parent] if parent >= 0 else []), row])
    return found


def first_rows(windows: Sequence[Window]) -> list[int]:
    """Where each window's rows begin in the round, and their number last."""
    starts = [0]
    for window in windows:
        starts.append(starts[-1] + window.rows)
    return starts


def items(windows: Sequence[Window], queries: int, chunk: int = CHUNK, padding: int = 0) -> list[int]:
    """The ITEMS words: every stream's folded groups, then its loose whole chunks; the pairs of each follow each other.

    ``queries``: query heads of a KV head. ``padding``: chunks a stream that its keys do not fill, as in a padded plan.
    """
    words: list[int] = []
    for stream, window in enumerate(windows):
        folded = groups(window.committed, window.rows, chunk)
        loose = window.committed // chunk - GROUP * folded
        for code in [*range(folded), *(-1 - place for place in range(loose + padding))]:
            for first in range(0, window.rows * queries, PAIRS):
                words += [stream, first, code]
    return words


def tables(windows: Sequence[Window], ids: Sequence[int], queries: int, chunk: int = CHUNK, padding: int = 0) -> dict[str, list[int]]:
    """Every table of the round by name; ``ids`` are the token ids of its rows."""
    starts = first_rows(windows)
    made: dict[str, list[int]] = {name: [] for name in ("POS", "SID", "WIN", "ROWS", "STREAM", "PARENTS")}
    for stream, (window, start) in enumerate(zip(windows, starts)):
        for row, path in enumerate(paths(window)):
            reached = [*range(KEPT), *(KEPT + start + node for node in path)]
            made["WIN"] += reached[-KEPT - 1 :]
            made["POS"].append(window.committed + len(path) - 1)
            parent = window.parents[row]
            made["PARENTS"].append(start + parent if parent >= 0 else -1)
        made["SID"] += [stream] * window.rows
        made["ROWS"] += [stream] * window.rows
        made["STREAM"] += [start, window.rows, window.committed, slots(window.committed, window.rows, chunk)]
    made["IDS"] = list(ids)
    made["DELTA"] = [0] * (3 * starts[-1])
    made["STARTS"] = starts
    made["ITEMS"] = items(windows, queries, chunk, padding)
    return made


def uploads(made: dict[str, list[int]]) -> list[Upload]:
    """The tables packed as an engine packs them: one upload for several streams, four for a single one.

    With one stream, SID is the WIN table, which the launch passes in its place.
    """
    if len(made["STREAM"]) > 4:
        return [_packed(made, ["POS", "SID", "DELTA", "STARTS", "IDS", "WIN", "ROWS", "STREAM", "ITEMS", "PARENTS"])]
    windows = _packed(made, ["WIN"])
    windows.places["SID"] = 0
    return [_packed(made, ["IDS"]), _packed(made, ["POS"]), windows, _packed(made, ["ROWS", "STREAM", "ITEMS", "PARENTS"])]


def _packed(made: dict[str, list[int]], names: list[str]) -> Upload:
    upload = Upload([])
    for name in names:
        upload.places[name] = len(upload.words)
        upload.words.extend(made[name])
    return upload
