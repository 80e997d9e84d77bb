"""counted(): says how far a long loop is and how long the rest will take, and leaves one quiet line behind."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import Any, TypeVar

T = TypeVar("T")
SOON = 2.0  # seconds: what takes no longer says nothing


def counted(items: Iterable[T], doing: str = "", each: float | None = None) -> Iterator[T]:
    """Go through ``items`` and say, before each, "Measuring: 3 of 7, about 20 s more".

    ``doing`` is the word before the colon. ``each``, the seconds that an item is expected to take, gives the first
    line its time; without it, nothing is said for two seconds. In a notebook it is one output that changes, and under
    nbconvert its last state stays; in a terminal one line of stderr; elsewhere nothing.
    """
    rows, began, line = list(items), monotonic(), Line(_teller())
    begin, done = f"{doing}: " if doing else "", 0
    try:
        for done, row in enumerate(rows):
            spent = monotonic() - began
            rest = (spent / done if done else each or 0.0) * (len(rows) - done)
            if spent + rest > SOON:
                told = f", about {_seconds(rest)} more" if rest else ""
                line.say(f"{begin}{done + 1} of {len(rows)}{told} …")
            yield row
        done = len(rows)
    finally:
        line.end(f"{begin}{done} of {len(rows)} in {_seconds(monotonic() - began)}.")


class Line:
    """One line that changes: ``tell`` is given each text, and whether it is the last one."""

    def __init__(self, tell: Callable[[str, bool], None] | None) -> None:
        self.tell, self.is_said = tell, False

    def say(self, text: str) -> None:
        if self.tell:
            self.tell(text, False)
            self.is_said = True

    def end(self, text: str) -> None:
        """The line that stays, if anything was said before."""
        if self.tell and self.is_said:
            self.tell(text, True)


def _seconds(t: float) -> str:
    return f"{t / 60:.0f} minutes" if t >= 120 else f"{max(1, round(t))} s"


def _teller() -> Callable[[str, bool], None] | None:
    """Where a line can change: in a notebook's output, or in a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if hasattr(shell, "kernel"):
        return _notebook()
    return _terminal if sys.stderr.isatty() else None


def _notebook() -> Callable[[str, bool], None]:
    from IPython.display import display

    handles: list[Any] = []

    def tell(text: str, is_last: bool) -> None:
        data = {"text/plain": text}
        if handles:
            handles[0].update(data, raw=True)
        else:
            handles.append(display(data, raw=True, display_id=True))  # type: ignore[no-untyped-call]

    return tell


def _terminal(text: str, is_last: bool) -> None:
    print(f"\r\033[K{text}", end="\n" if is_last else "", file=sys.stderr, flush=True)
