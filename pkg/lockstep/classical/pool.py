"""A simulated pool of workers that compute the rows of an image in virtual time, and record who began what, and when.

Nothing is computed and no thread is started: the time of a row is given, and so the same on every machine.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from lockstep.classical.assignment import mandelbrot_rows


class Misused(Exception):
    """An invalid start of a row, or a wait without any busy worker. ``kind``: one word for the mistake."""

    def __init__(self, kind: str, told: str) -> None:
        super().__init__(told)
        self.kind, self.told = kind, told


class Pool:
    """``costs``: the time of each row. ``pixels``: the result of each row; by default its number as text.

    ``started`` is (worker, row, begin, end) of each row, ``fetched`` the rows that wait() returned, ``time`` the clock.
    ``idle`` is (worker, rows left, time) for each worker that was idle in a wait() while rows were left.
    ``misused`` is the first Misused that was raised: whoever catches it has misused the pool all the same."""

    def __init__(self, workers: int, costs: Sequence[float], pixels: Sequence[Any] = ()) -> None:
        self.workers, self.time = workers, 0.0
        self.started: list[tuple[int, int, float, float]] = []
        self.fetched: list[int] = []
        self.idle: list[tuple[int, int, float]] = []
        self.misused: Misused | None = None
        self._costs, self._pixels = costs, pixels or [f"row {row}" for row in range(len(costs))]
        self._busy: dict[int, tuple[float, int]] = {}  # worker -> when it will be done, and its row

    def start(self, worker: int, row: int) -> None:
        """An idle worker begins a row. Raises Misused."""
        worker = self._known(worker, self.workers, "worker")
        row = self._known(row, len(self._costs), "row")
        if worker in self._busy:
            raise self._misuse(
                "busy",
                f"worker {worker} still computes row {self._busy[worker][1]}: a worker computes "
                "one row at a time, so hand the next one to a worker that wait() has just given back",
            )
        if row in (begun[1] for begun in self.started):
            raise self._misuse("twice", f"row {row} has been started before")
        end = self.time + self._costs[row]
        self._busy[worker] = end, row
        self.started.append((worker, row, self.time, end))

    def wait(self) -> tuple[int, int, Any]:
        """Wait until the next worker is done, and return (worker, row, pixels). Raises Misused."""
        if not self._busy:
            raise self._misuse(
                "nobody", "nobody computes anything: call wait() once for each row that you have started"
            )
        if left := len(self._costs) - len(self.started):
            self.idle += [(w, left, self.time) for w in range(self.workers) if w not in self._busy]
        worker = min(self._busy, key=lambda w: (self._busy[w][0], w))
        self.time, row = self._busy.pop(worker)
        self.fetched.append(row)
        return worker, row, self._pixels[row]

    def _known(self, number: Any, count: int, what: str) -> int:
        try:
            known = operator.index(number)
        except TypeError:
            raise self._misuse("unknown", f"{number!r} is no number of a {what}") from None
        if not 0 <= known < count:
            there = f"the {what}s are 0 to {count - 1}" if count else f"there are no {what}s"
            told = f"there is no {what} {known}: {there}; there may be fewer rows than workers"
            raise self._misuse("unknown", told)
        return known

    def _misuse(self, kind: str, told: str) -> Misused:
        self.misused = self.misused or Misused(kind, told)
        return self.misused


def mandelbrot_pool(workers: int = 4, rows: int = 64) -> Pool:
    """A pool for an image of the Mandelbrot set, to experiment with."""
    return Pool(workers, mandelbrot_rows(rows))
