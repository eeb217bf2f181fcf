"""Which step runs: whoever waits for a tool can see for what."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar

LATE_SECONDS = 5
"""Without a terminal a step is told once it has taken so long; most take far less."""

Show = Callable[[str], contextlib.AbstractContextManager[object]]
"""Takes what is being done, such as "compiling the reader", and shows it for as long as the context lasts."""

_show: ContextVar[Show] = ContextVar("show", default=contextlib.nullcontext)


def shown(what: str) -> contextlib.AbstractContextManager[object]:
    """The context in which `what` is done."""
    return _show.get()(what)


@contextlib.contextmanager
def shown_by(show: Show) -> Iterator[None]:
    """Let `show` show all steps in the context."""
    token = _show.set(show)
    try:
        yield
    finally:
        _show.reset(token)


def on_standard_error() -> Show:
    """A line that goes when the step ends, on a terminal; else one that stays, for a step that takes long; nothing where it is closed."""
    if sys.stderr is None:
        return contextlib.nullcontext
    return _spinning if sys.stderr.isatty() else late


@contextlib.contextmanager
def late(what: str) -> Iterator[None]:
    """Print a step that takes long, on standard error."""
    timer = threading.Timer(LATE_SECONDS, lambda: print(f"{what} …", file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _spinning(what: str) -> contextlib.AbstractContextManager[object]:
    from rich.console import Console
    from rich.text import Text

    return Console(stderr=True).status(Text(f"{what} …"))
