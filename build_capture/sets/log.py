"""Reads an engine's log, however long, in bounded memory: which launches found no variant, several, or a more general one."""

from __future__ import annotations

from typing import BinaryIO

import msgspec

from build_capture.sets import log_lines
from build_capture.sets.log_lines import Head, Kind, LoggedArgument, LoggedConstexpr, Marked, Parts

BLOCK_BYTES = 1 << 20
"""What is read at once."""

LINE_BYTES = 1 << 20
"""No engine's line is longer. One that is, is read as several, so that nothing is held that grows with it."""

DISTINCT_MAX = 1000
"""How many failures that differ are told apart; the others are counted."""

_OPEN_MAX = 16
"""How many failures may wait for further lines: as many streams may be mixed."""

_GAP_LINES = 500
"""How many other lines may lie between two of one failure."""

_PARTS_MAX = 1024
"""No launch has more arguments, or constexprs."""


class LoggedFailure(msgspec.Struct, frozen=True):
    """A launch without a variant of its own, as the log tells it; launches of one specialization are one failure."""

    kind: Kind
    function: str
    arguments: tuple[LoggedArgument, ...]
    """In the order of the launch; those that the log does not show are left out. Values are the largest of all its launches."""
    constexprs: tuple[LoggedConstexpr, ...]
    """None where the engine does not print them."""
    num_warps: int | None
    num_stages: int | None
    """What the launch pins; null too where the engine does not print it."""
    variant: str
    """Of a fallback: the start of the hash of the variant that ran."""
    is_cut: bool
    """Whether the log shows a part of the launch only."""
    is_last: bool
    """Whether the log ends with this launch's lines, so that nothing tells whether there would be more; it is then cut, too."""
    is_mixed: bool
    """Whether its lines may be another failure's, since several were written at once without anything to tell them apart."""
    line: int
    """Where it was seen first."""
    times: int


class Log(msgspec.Struct, frozen=True):
    """What a log says."""

    lines: int
    failures: tuple[LoggedFailure, ...]
    """In the order in which they were seen first."""
    requests: int
    """How many requests ended in such an error."""
    untold: int
    """How many further failures there were, beyond `DISTINCT_MAX` that differ."""
    of_coverage: bool = False
    """Whether lines of the tool's own coverage test are among them, which are no engine's."""


class _Open:
    """A failure whose lines may still come."""

    def __init__(self, head: Head, line: int) -> None:
        self.head = head
        self.line = self.last_line = line
        self.words = head.words
        self.arguments: dict[str, LoggedArgument] = {}
        self.constexprs: dict[str, LoggedConstexpr] = {}
        self.said: set[tuple[str, str]] = set()
        self.is_cut = self.is_last = self.is_mixed = False
        self.take(head.parts, line)

    def take(self, parts: Parts, line: int) -> None:
        """Add what a line says of the launch; it says nothing that was said already."""
        self.last_line = line
        self.is_cut = self.is_cut or parts.is_cut
        if len(self.said) < 2 * _PARTS_MAX:
            self.said |= parts.names
        for argument in parts.arguments[: _PARTS_MAX - len(self.arguments)]:
            self.arguments.setdefault(argument.name, argument)
        for constexpr in parts.constexprs[: _PARTS_MAX - len(self.constexprs)]:
            self.constexprs.setdefault(constexpr.name, constexpr)

    def lacks(self, parts: Parts) -> bool:
        """Whether none of it was said yet; a line of which some was is another failure's."""
        return self.said.isdisjoint(parts.names)

    def close(self) -> LoggedFailure:
        """The failure, seen once."""
        arguments = tuple(self.arguments.values())
        hidden = any(argument.class_ is None and argument.type != "fp32" for argument in arguments)
        warps, stages = self.head.pins or (None, None)
        is_cut = self.head.kind == "missing" and (self.is_cut or self.is_last or hidden or not arguments)
        return LoggedFailure(
            kind=self.head.kind,
            function=self.head.function,
            arguments=arguments,
            constexprs=tuple(self.constexprs.values()),
            num_warps=warps,
            num_stages=stages,
            variant=self.head.variant,
            is_cut=is_cut,
            is_last=self.is_last,
            is_mixed=self.is_mixed,
            line=self.line,
            times=1,
        )


def read_log(stream: BinaryIO) -> Log:
    """What a log says. It is read block by block, and never held as a whole."""
    reader = _Reader()
    rest = b""
    while block := stream.read(BLOCK_BYTES):
        data = rest + block
        end = data.rfind(b"\n") + 1 or (len(data) if len(data) > BLOCK_BYTES else 0)
        reader.read(data[:end])
        rest = data[end:]
    reader.read(rest)
    return reader.finish()


class _Reader:
    """Goes through the lines and keeps what differs."""

    def __init__(self) -> None:
        self.lines = self.requests = self.untold = 0
        self._of_coverage = False
        self._taken_line = self._other_line = 0
        """The last line that is a failure's, and the last that is none's while one is open."""
        self._open: list[_Open] = []
        self._failures: dict[tuple[object, ...], LoggedFailure] = {}

    def read(self, data: bytes) -> None:
        """Read whole lines."""
        marks = [_Mark(data, mark) for mark in log_lines.MARKS]
        at = 0
        while at < len(data):
            if not self._open:
                start = min(mark.line_from(at) for mark in marks)
                self.lines += data.count(b"\n", at, start)
                at = start
                if at == len(data):
                    self.lines += not data.endswith(b"\n")
                    return
            end = data.find(b"\n", at)
            stop = len(data) if end < 0 else end
            self.lines += 1
            self._line(data[at : min(stop, at + LINE_BYTES)])
            for piece in range(at + LINE_BYTES, stop, LINE_BYTES):
                self._line(data[piece : min(stop, piece + LINE_BYTES)])
            # An empty line tells nothing; one that the log ends in may have been a failure's.
            if self._taken_line < self.lines and end > at:
                self._other_line = self.lines
            at = stop + 1

    def finish(self) -> Log:
        """All that was read."""
        for failure in self._open:
            # One that is quoted on one line is all there.
            failure.is_last = failure.line < failure.last_line and failure.last_line > self._other_line
            self._close(failure)
        failures = sorted(self._failures.values(), key=lambda failure: failure.line)
        return Log(self.lines, tuple(failures), self.requests, self.untold, self._of_coverage)

    def _line(self, raw: bytes) -> None:
        if self._open and self.lines - self._open[0].last_line > _GAP_LINES:
            self._keep([failure for failure in self._open if self.lines - failure.last_line <= _GAP_LINES])
        if any(mark in raw for mark in log_lines.MARKS):
            self._marked(log_lines.marked(raw))
            self._of_coverage = self._of_coverage or log_lines.COVERAGE in raw
        elif self._open and (parts := log_lines.parts_of_line(raw)):
            self._continue(parts)

    def _marked(self, marked: Marked) -> None:
        for head in marked.heads:
            self._open.append(_Open(head, self.lines))
            self._taken_line = self.lines
            # The other kinds are told by one line.
            if head.kind != "missing":
                self._keep(self._open[:-1])
            elif len(self._open) > _OPEN_MAX:
                self._keep(self._open[1:])
        if marked.ends_request:
            self.requests += 1
            if self._open:
                ended = self._likeliest(self._open, marked.words)
                self._keep([failure for failure in self._open if failure is not ended])

    def _continue(self, parts: Parts) -> None:
        candidates = [failure for failure in self._open if failure.lacks(parts)]
        if not parts.names:
            # A line that is left out, and not one of the server's that ends with dots.
            candidates = [failure for failure in candidates if parts.is_cut and parts.words - failure.words <= log_lines.CUT_WORDS]
        if not candidates:
            return
        best = candidates[0]
        if len(self._open) > 1:
            best = self._among_several(candidates, parts)
        best.take(parts, self.lines)
        self._taken_line = self.lines

    def _among_several(self, candidates: list[_Open], parts: Parts) -> _Open:
        """The open failure that a line is most likely of."""
        best = self._likeliest(candidates, parts.words)
        newest = self._likeliest(self._open, parts.words)
        if newest is not best and newest.words == best.words:
            # The newest failure of the same stream had this already: so the lines of two are mixed.
            newest.is_mixed = best.is_mixed = True
        return best

    def _likeliest(self, failures: list[_Open], words: frozenset[str]) -> _Open:
        """The failure whose head shares most words with a line's prefix; of several the one that began last."""
        if len(failures) == 1:
            return failures[0]
        return max(failures, key=lambda failure: (len(words & failure.words), failure.line))

    def _keep(self, kept: list[_Open]) -> None:
        for failure in self._open:
            if failure not in kept:
                self._close(failure)
        self._open = kept

    def _close(self, open_: _Open) -> None:
        failure = open_.close()
        classes = tuple((argument.name, argument.type, argument.class_) for argument in failure.arguments)
        pins = failure.num_warps, failure.num_stages
        key = (failure.kind, failure.function, classes, failure.constexprs, pins, failure.variant, failure.is_cut, failure.is_last, failure.is_mixed)
        known = self._failures.get(key)
        if known is not None:
            failure = _joined(known, failure)
        elif len(self._failures) == DISTINCT_MAX:
            self.untold += 1
            return
        self._failures[key] = failure


def _joined(first: LoggedFailure, second: LoggedFailure) -> LoggedFailure:
    pairs = zip(first.arguments, second.arguments, strict=True)
    arguments = tuple(new if (new.value or 0) > (old.value or 0) else old for old, new in pairs)
    return msgspec.structs.replace(first, arguments=arguments, times=first.times + second.times, line=min(first.line, second.line))


class _Mark:
    """Where lines with a mark begin, looked for once each."""

    def __init__(self, data: bytes, mark: bytes) -> None:
        self._data, self._mark, self._next = data, mark, -1

    def line_from(self, at: int) -> int:
        """The start of the first line from `at` on that holds the mark; the end of the data where none does."""
        if self._next < at:
            found = self._data.find(self._mark, at)
            self._next = len(self._data) if found < 0 else max(at, self._data.rfind(b"\n", 0, found) + 1)
        return self._next
