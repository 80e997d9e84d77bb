"""How far a build is, in words: for a terminal, a log, a notebook."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import TextIO

WIDTH = 30  # characters of a bar
EARLY = 0.05  # part of the work from which on its end can be foreseen
LINES = 10  # of a log


@dataclass
class Pace:
    """Looks at a clock while something goes from 0 to 1."""

    clock: Callable[[], float] = time.monotonic
    begun: float = field(init=False)

    def __post_init__(self) -> None:
        self.begun = self.clock()

    def left(self, done: float) -> str:
        """How long it still takes if it goes on as until now; "" where that cannot be said."""
        if not EARLY <= done < 1:
            return ""
        seconds = (self.clock() - self.begun) * (1 - done) / done
        return f"{seconds / 60:.0f} min left" if seconds > 90 else f"{seconds:.0f} s left"


class Terminal:
    """A bar that stays on its line; in a log, a line now and then."""

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
