"""The state of each rank, for deadlock detection and error messages: what it waits for or polls, and its line."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType

from lockstep import deadlock_report, places
from lockstep.comm.mismatch import rank_state
from lockstep.comm.operation import Operation
from lockstep.errors import RankState
from lockstep.record import started_threads
from lockstep.virtual.scheduler import Scheduler


class RankStates:
    """``waiting``: the operation that blocks a rank. ``asked``: the operation that a rank polled last, until something
    is posted. ``threads``: the threads of the ranks, once they are started."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.waiting: dict[int, Operation] = {}
        self.threads: dict[int, threading.Thread] = {}
        self.asked: dict[int, Operation] = {}
        self.returning: set[int] = set()
        self._questions: Counter[int] = Counter()  # unsuccessful polls since anything was posted, by rank
        self._scheduler = scheduler

    @contextmanager
    def returns(self, rank: int) -> Iterator[None]:
        """A context in which the value of the rank is pickled. That of a large one takes seconds."""
        self.returning.add(rank)
        try:
            yield
        finally:
            self.returning.discard(rank)

    def asks(self, rank: int, operation: Operation) -> None:
        """``is_completed()`` has returned False."""
        self.asked[rank] = operation
        self._questions[rank] += 1

    def posted(self) -> None:
        """Something was posted, so that the next poll may succeed."""
        self.asked.clear()
        self._questions.clear()

    def idles(self, rank: int, patience: int) -> bool:
        """Whether the rank is blocked, or has done nothing but poll, more than ``patience`` times."""
        operation = self.waiting.get(rank)
        if operation is None and self._questions[rank] > patience:
            operation = self.asked[rank]
        return operation is not None and operation.end is None

    def all(self) -> list[RankState]:
        frames = sys._current_frames()
        return [self._of(r, frames) for r in range(len(self._scheduler.clock))]

    def others(self, rank: int) -> list[RankState]:
        return [s for s in self.all() if s.rank != rank]

    def place(self, rank: int) -> places.Place:
        return self._place(rank, sys._current_frames())

    def _of(self, r: int, frames: Mapping[int, FrameType]) -> RankState:
        if self._scheduler.finished[r]:
            return RankState(r, "finished")
        place = self._place(r, frames)
        operation = self.waiting.get(r) or self.asked.get(r)
        if operation and operation.end is None:
            waits = rank_state(operation)
            return replace(waits, where=str(place), source=place.source) if place.file else waits
        if r in self.returning:
            return RankState(r, "computing", did=deadlock_report.RETURNS)
        if not place.file:
            ends = started_threads.is_joining(frames.get(self.threads[r].ident or 0))
            return RankState(r, "computing", did="waits for threads that it has started" if ends else "has not begun")
        done, did = (str(operation), "has done") if operation else ("", "")  # and another rank has the baton
        return RankState(r, "computing", done, str(place), place.source, did=did)

    def _place(self, r: int, frames: Mapping[int, FrameType]) -> places.Place:
        return places.of_frame(frames.get(self.threads[r].ident or 0))
