"""Where each rank stands: what it waits for or asks about, and the learner's line that it has come to."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from types import FrameType

from lockstep import places
from lockstep.comm.agreement import rank_state
from lockstep.comm.operation import Operation
from lockstep.errors import RankState
from lockstep.virtual.scheduler import Scheduler


class RankStates:
    """``waiting``: the operation for which a rank stands still. ``asked``: what each rank asked about last, until
    something is posted. ``threads``: those of the ranks, once they are started."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.waiting: dict[int, Operation] = {}
        self.threads: dict[int, threading.Thread] = {}
        self.asked: dict[int, Operation] = {}
        self._questions: Counter[int] = Counter()  # in vain, since anything was posted: by rank
        self._scheduler = scheduler

    def asks(self, rank: int, operation: Operation) -> None:
        """``is_completed()``, in vain."""
        self.asked[rank] = operation
        self._questions[rank] += 1

    def posted(self) -> None:
        """Something was: who asks may get another answer."""
        self.asked.clear()
        self._questions.clear()

    def idles(self, rank: int, patience: int) -> bool:
        """Whether the rank only waits, or has only asked, and more than ``patience`` times."""
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
        if not place.file:
            return RankState(r, "computing", did="has not begun")
        done, did = (str(operation), "has done") if operation else ("", "")  # and it is another rank's turn
        return RankState(r, "computing", done, str(place), place.source, did=did)

    def _place(self, r: int, frames: Mapping[int, FrameType]) -> places.Place:
        return places.of_frame(frames.get(self.threads[r].ident or 0))
