"""One program counter for K ranks: the baton.

Ranks are threads, but exactly one of them runs: the one that holds the baton. It is always given to the rank with the
smallest virtual clock among those able to run, so every run is the same, and whoever acts first in virtual time acts
first in fact.

    ready   a heap of (clock, rank)           pause(r)      lets ranks with a smaller clock go first
    blocked no entry: someone must wake it    block(r)      gives the baton away until wake(r, time)
    due     a heap of (clock, rank, ...)      act(r, ...)   takes effect when ranks with a smaller clock have gone

A rank that only posts a message need not give the baton away for it: a switch of threads is spared.
(Threads it has to be: torch keeps its modes for each thread, and autograd the queue of a backward pass. Coroutines
would share them.)
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable
from itertools import count
from typing import Any

Moment = tuple[float, int]  # a virtual time, and the rank that acts then: at the same time lower ranks act first
END: Moment = (float("inf"), 0)


class Scheduler:
    """``clock[r]`` is the virtual time of rank r in seconds; ``operations`` counts what ranks have done, for a
    supervisor that wants to know whether anything still happens."""

    def __init__(self, ranks: int, on_stall: Callable[[], None], on_switch: Callable[[int], None]) -> None:
        self.clock = [0.0] * ranks
        self.operations = 0
        self.baton: list[int] | memoryview[int] = [0]  # whose it is; child.py puts it where its starter can read it
        self.finished = [False] * ranks
        self._ready: list[Moment] = [(0.0, r) for r in range(ranks)]
        self._due: list[tuple[float, int, int, Callable[[Any], None], Any]] = []
        self._posted = count()  # keeps what a rank does at one time in order
        self._batons = [threading.Lock() for _ in range(ranks)]
        for baton in self._batons:
            baton.acquire()
        self._on_stall = on_stall
        self._on_switch = on_switch

    @property
    def running(self) -> int:
        """The rank that has the baton."""
        return self.baton[0]

    def start(self) -> None:
        """Hand the baton out for the first time."""
        self._pass_on()

    def begin(self, rank: int) -> None:
        """Called by a rank's thread before anything else: wait for the baton."""
        self._batons[rank].acquire()
        self._on_switch(rank)

    def pause(self, rank: int) -> None:
        """Let every rank that is behind in virtual time catch up first."""
        self.operations += 1
        now = self.clock[rank], rank
        self._take_effect(now)
        if self._ready and self._ready[0] < now:
            heapq.heappush(self._ready, now)
            self._switch_from(rank)

    def act(self, rank: int, effect: Callable[[Any], None], what: Any) -> None:
        """The rank does something now and goes on: ``effect(what)`` comes when every rank that is behind has caught
        up."""
        self.operations += 1
        time, ready = self.clock[rank], self._ready
        if not self._due and not (ready and ready[0] < (time, rank)):
            effect(what)  # nobody is behind
        else:
            heapq.heappush(self._due, (time, rank, next(self._posted), effect, what))
            self._take_effect((time, rank))

    def is_due(self, rank: int) -> bool:
        """Whether something that the rank did is still without effect."""
        return any(r == rank for _, r, *_ in self._due)

    def block(self, rank: int) -> None:
        """Give the baton away until somebody wakes this rank."""
        self.operations += 1
        self._switch_from(rank)

    def wake(self, rank: int, time: float) -> None:
        """A blocked rank may go on, not before ``time``."""
        self.clock[rank] = max(self.clock[rank], time)
        heapq.heappush(self._ready, (self.clock[rank], rank))

    def finish(self, rank: int) -> None:
        """The rank's function has returned: its thread ends and gives the baton away for good."""
        self.finished[rank] = True
        self.operations += 1
        if all(self.finished):
            self._take_effect(END)
        else:
            self._pass_on()

    def advance(self, rank: int, seconds: float) -> None:
        """The rank is busy for so long."""
        self.clock[rank] += seconds
        self.operations += 1

    def next_time(self) -> float | None:
        """When the next of the other ranks will act, if any can."""
        return min((heap[0][0] for heap in (self._ready, self._due) if heap), default=None)

    def _take_effect(self, until: Moment) -> None:
        """All that is due by then, unless a rank that is able to run comes before."""
        while self._due and (then := self._due[0][:2]) <= until and not (self._ready and self._ready[0] < then):
            due = heapq.heappop(self._due)
            due[3](due[4])

    def _switch_from(self, rank: int) -> None:
        self._pass_on()
        self._batons[rank].acquire()
        self._on_switch(rank)

    def _pass_on(self) -> None:
        self._take_effect(END)
        if not self._ready:
            self._on_stall()
            return
        _, following = heapq.heappop(self._ready)
        self.baton[0] = following
        self._batons[following].release()
