"""One program counter for K ranks: the baton.

Ranks are threads, but exactly one of them runs: the one that holds the baton. It is always given to the rank with the
smallest virtual clock among those able to run, so every run is the same, and whoever acts first in virtual time acts
first in fact.

    ready   a heap of (clock, rank)          pause(r)   lets ranks with a smaller clock go first
    blocked no entry: someone must wake it   block(r)   gives the baton away until wake(r, time)
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable


class Scheduler:
    """``clock[r]`` is the virtual time of rank r in seconds; ``operations`` counts what ranks have done, for a
    supervisor that wants to know whether anything still happens."""

    def __init__(self, ranks: int, on_stall: Callable[[], None], on_switch: Callable[[int], None]) -> None:
        self.clock = [0.0] * ranks
        self.operations = 0
        self.baton: list[int] | memoryview[int] = [0]  # whose it is; child.py puts it where its starter can read it
        self.finished = [False] * ranks
        self._ready: list[tuple[float, int]] = [(0.0, r) for r in range(ranks)]
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
        if self._ready and self._ready[0] < (self.clock[rank], rank):
            heapq.heappush(self._ready, (self.clock[rank], rank))
            self._switch_from(rank)

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
        if not all(self.finished):
            self._pass_on()

    def advance(self, rank: int, seconds: float) -> None:
        """The rank is busy for so long."""
        self.clock[rank] += seconds
        self.operations += 1

    def next_time(self) -> float | None:
        """When the next of the other ranks will act, if any can."""
        return self._ready[0][0] if self._ready else None

    def _switch_from(self, rank: int) -> None:
        self._pass_on()
        self._batons[rank].acquire()
        self._on_switch(rank)

    def _pass_on(self) -> None:
        if not self._ready:
            self._on_stall()
            return
        _, following = heapq.heappop(self._ready)
        self.baton[0] = following
        self._batons[following].release()
