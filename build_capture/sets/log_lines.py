"""What single lines of an engine's log say of launches without a variant: heads, arguments, constexprs, and ends of requests."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from build_capture.plan.needs import Class

Kind = Literal["missing", "ambiguous", "fallback"]

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_WORD = r"(?<!\w)[^\W\d]\w*"
"""A name, as Python has them. Begins where a word does: a search would else try each letter of a long one."""
_HEAD = re.compile(
    rf"no captured Triton variant of (?P<missing>{_WORD})(?: for this launch)?(?: \(warps (?P<warps>\d{{1,9}}|null), stages (?P<stages>\d{{1,9}}|null)\))?"
    rf"|several captured Triton variants of (?P<ambiguous>{_WORD}) match"
    rf"|(?P<fallback>{_WORD}): a launch whose specialization no captured variant has runs variant (?P<variant>[0-9A-Za-z]+)"
)
_ARGUMENT = re.compile(
    rf"(?P<name>{_WORD})\s*:\s*(?:"
    r"(?P<pointer>\*[A-Za-z0-9_]+)(?:\s+at\s+(?P<address>0x[0-9A-Fa-f]{1,16}))?(?:[^\s(]*\s*\(16-aligned (?P<aligned>true|false)\))?"
    r"|(?P<whole>i32|u64)\b(?:\s+(?P<value>-?\d{1,20})\b)?"
    r"|(?P<float>f32|fp32)\b(?:\s+(?P<real>[-+.0-9A-Za-z]+))?)"
)
_CONSTEXPR = re.compile(rf"constexpr (?P<name>{_WORD})\s*=\s*(?P<value>[-+.0-9A-Za-z_]+)")
_LINE_END = re.compile(r"""\s*(?:$|,|"|\\[nr]|…|\.\.\.)""")
"""Also where a log keeps each line in a JSON string."""
_CUT = re.compile(r"…|\.\.\.")
CUT_WORDS = frozenset(("…", "...", "[…]", "[...]"))
"""What stands alone where lines were left out."""
_END = re.compile(r"(?:Missing|Ambiguous)TritonVariant")
_TIME = re.compile(r"\W*\d[\dTZ:.,/+-]*[:.,/-][\dTZ:.,/+-]*\W*")

_PREFIX_LETTERS, _PREFIX_WORD = 1024, 64
"""Letters of a prefix, and of one of its words, that are looked at."""

_KEPT_BYTES = 1024
"""A server that fails says the same again and again. What a longer line says is not kept."""

COVERAGE = b"error: no captured variant of "
"""What the coverage test of a build says of each launch that the set lacks."""

MARKS = (b"Triton", b"no captured variant has runs", COVERAGE)
"""Every head, every end and every line of the coverage test holds one of these: lines without them need no look while no failure is open."""

_MIGHT_CONTINUE = re.compile(rb":\s*(?:\*\w|[iu](?:32|64)\b|fp?32\b)|constexpr |\xe2\x80\xa6|\.\.\.")


class LoggedArgument(msgspec.Struct, frozen=True):
    """An argument of a launch, as far as a log shows it."""

    name: str
    type: str
    """Triton's: a pointer's, or `i32`, `u64`, `fp32`."""
    class_: Class | None = msgspec.field(name="class")
    """Null where the log does not show it, and of a float, which has none."""
    value: int | None = None
    """Of an int. An address decides nothing but the class, and a float not even that."""


class LoggedConstexpr(msgspec.Struct, frozen=True):
    """A constexpr of a launch, as the log writes it."""

    name: str
    value: str

    @property
    def number(self) -> int | float | None:
        """What it is worth; a bool is 0 or 1. None where it is no number, such as `None`."""
        text = {"true": "1", "false": "0"}.get(self.value.lower(), self.value)
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
        return None


class Parts(msgspec.Struct, frozen=True):
    """What a text says of one launch."""

    arguments: tuple[LoggedArgument, ...]
    constexprs: tuple[LoggedConstexpr, ...]
    names: frozenset[tuple[str, str]]
    """Of both, each with what it names."""
    words: frozenset[str]
    """The stream words of what stands before."""
    is_cut: bool
    """Whether something was left out of the text."""


class Head(msgspec.Struct, frozen=True):
    """The line that a failure begins with."""

    kind: Kind
    function: str
    words: frozenset[str]
    """The stream words of what stands before it on its line: a level, a container's name."""
    parts: Parts
    """What follows it on its line: of a quoted failure all that was kept."""
    pins: tuple[int | None, int | None] | None
    """Warps and stages that the launch pins; None where the engine does not print them."""
    variant: str
    """Of a fallback: the start of the hash of the variant that runs instead."""


class Marked(msgspec.Struct, frozen=True):
    """What a line with a mark says."""

    heads: tuple[Head, ...]
    """The failures that begin on it; a quotation may hold several."""
    ends_request: bool
    """Whether a request ends with an error of this kind on it."""
    words: frozenset[str]
    """Its stream words."""


def plain(line: bytes) -> str:
    """A line as text, without colours and without what ends it."""
    text = line.decode(errors="replace").rstrip("\r\n")
    return _COLOUR.sub("", text) if "\x1b" in text else text


def marked(line: bytes) -> Marked:
    """What a line says that holds one of `MARKS`."""
    return _kept(_marked, line)


def parts_of_line(line: bytes) -> Parts | None:
    """What a line of its own says of a launch that an earlier one began; None where it says nothing of any."""
    return _kept(_parts_of_line, line)


def _kept(read: Any, line: bytes) -> Any:
    """What a cached function answers, without keeping it of a long line."""
    return read(line) if len(line) <= _KEPT_BYTES else read.__wrapped__(line)


@functools.lru_cache(maxsize=4096)
def _marked(line: bytes) -> Marked:
    text = plain(line)
    return Marked(tuple(_heads(text)), _END.search(text) is not None, stream_words(text))


@functools.lru_cache(maxsize=4096)
def _parts_of_line(line: bytes) -> Parts | None:
    return parts(plain(line)) if _MIGHT_CONTINUE.search(line) else None


def _heads(text: str) -> Iterator[Head]:
    found = list(_HEAD.finditer(text))
    stops = [match.start() for match in found[1:]] + [len(text)]
    for index, match in enumerate(found):
        yield _head(match, text[0 if index == 0 else found[index - 1].end() : match.start()], text[match.end() : stops[index]])


def _head(match: re.Match[str], before: str, rest: str) -> Head:
    kinds: tuple[Kind, ...] = ("missing", "ambiguous", "fallback")
    kind = next(kind for kind in kinds if match[kind])
    pins = (_pin(match["warps"]), _pin(match["stages"])) if match["warps"] else None
    return Head(kind, match[kind], stream_words(before), parts(rest, quoted=True), pins, match["variant"] or "")


def _pin(text: str) -> int | None:
    return None if text == "null" else int(text)


def parts(text: str, *, quoted: bool = False) -> Parts:
    """What a text says of one launch.

    A line of its own ends with what it says, so that others that look alike are left out; what is `quoted` after a head need not.
    """
    found = [match for match in _ARGUMENT.finditer(text) if quoted or match["value"] or not match["whole"]]
    named = list(_CONSTEXPR.finditer(text))
    ends = [match.end() for match in (*found, *named)]
    if ends and not quoted and not _LINE_END.match(text, max(ends)):
        found, named = [], []
    start = min((match.start() for match in (*found, *named)), default=len(text))
    constexprs = tuple(LoggedConstexpr(match["name"], match["value"]) for match in named)
    names = frozenset([*(("argument", match["name"]) for match in found), *(("constexpr", match["name"]) for match in named)])
    return Parts(tuple(map(_argument, found)), constexprs, names, stream_words(text[:start]), _CUT.search(text) is not None)


def _argument(match: re.Match[str]) -> LoggedArgument:
    value = int(match["value"]) if match["value"] else None
    return LoggedArgument(match["name"], match["pointer"] or match["whole"] or "fp32", _class(match, value), value)


def _class(match: re.Match[str], value: int | None) -> Class | None:
    if match["pointer"]:
        if match["aligned"] is None and match["address"] is None:
            return None
        is_aligned = match["aligned"] == "true" if match["aligned"] else int(match["address"], 16) % 16 == 0
        return Class.ALIGNED if is_aligned else Class.UNALIGNED
    if value is None:
        return None
    # Engines fold an i32 of 1 alone.
    if value == 1 and match["whole"] == "i32":
        return Class.ONE
    return Class.DIV16 if value % 16 == 0 else Class.ANY


def stream_words(prefix: str) -> frozenset[str]:
    """The words of a line's prefix that tell streams of lines apart: all but times, which differ within a stream."""
    words = prefix[:_PREFIX_LETTERS].replace("|", " ").split()
    return frozenset(word[:_PREFIX_WORD] for word in words if not _TIME.fullmatch(word[:_PREFIX_WORD]))
