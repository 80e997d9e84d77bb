"""Progress in words, with the time that is left: ``counted`` of a loop, ``Terminal`` of work that goes from 0 to 1."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from time import monotonic
from types import TracebackType
from typing import Any, TextIO, TypeVar

T = TypeVar("T")
SOON = 2.0  # seconds: a shorter loop prints nothing
WIDTH = 30  # characters of a bar
EARLY = 0.05  # part of the work from which on its end can be foreseen
LINES = 10  # of a log


def counted(items: Iterable[T], doing: str = "", each: float | None = None) -> Iterator[T]:
    """Iterate over ``items`` and show progress before each, as in "Measuring: 3 of 7, about 20 s more".

    ``doing`` is the word before the colon. ``each`` is the expected time of an item in seconds, for the estimate in the
    first line; without it, nothing is printed for two seconds. In a notebook one output is updated, and its last state
    remains (also with nbconvert); in a terminal it is one line on stderr; elsewhere nothing is printed.
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
    """A line that is updated in place: ``tell`` is called with each text, and whether it is the last one."""

    def __init__(self, tell: Callable[[str, bool], None] | None) -> None:
        self.tell, self.is_said = tell, False

    def say(self, text: str) -> None:
        if self.tell:
            self.tell(text, False)
            self.is_said = True

    def end(self, text: str) -> None:
        """Print the final line, if any was printed before."""
        if self.tell and self.is_said:
            self.tell(text, True)


def _seconds(t: float) -> str:
    return f"{t / 60:.0f} minutes" if t >= 120 else f"{max(1, round(t))} s"


def _teller() -> Callable[[str, bool], None] | None:
    """A function that updates a line in place: in a notebook's output or a terminal; None elsewhere."""
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


# ---- of work that goes from 0 to 1


@dataclass
class Pace:
    """Estimates from a clock how long work still takes that goes from 0 to 1."""

    clock: Callable[[], float] = monotonic
    begun: float = field(init=False)

    def __post_init__(self) -> None:
        self.begun = self.clock()

    def left(self, done: float) -> str:
        """The time left if work goes on at the same pace, as in "3 min left"; "" where it is too early to say."""
        if not EARLY <= done < 1:
            return ""
        seconds = (self.clock() - self.begun) * (1 - done) / done
        return f"{seconds / 60:.0f} min left" if seconds > 90 else f"{seconds:.0f} s left"


class Terminal:
    """A progress bar on one line of a terminal; in a log, LINES lines in all."""

    def __init__(self, out: TextIO, pace: Pace | None = None) -> None:
        self.out, self.pace = out, pace or Pace()
        self.lively = out.isatty()
        self.what, self.told, self.drawn = "", 0, 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._clear()

    def tell(self, what: str, done: float) -> None:
        line = f"{what}: {100 * done:.0f} % {self.pace.left(done)}".rstrip() if done else what
        if self.lively:
            bar = f"[{'#' * round(WIDTH * done):<{WIDTH}}] "
            self._clear()
            self.out.write(bar + line)
            self.drawn = len(bar + line)
        elif (what, int(LINES * done)) != (self.what, self.told):
            self.out.write(f"{line}\n")
            self.what, self.told = what, int(LINES * done)
        self.out.flush()

    def _clear(self) -> None:
        if self.drawn:
            self.out.write(f"\r{' ' * self.drawn}\r")
            self.drawn = 0
