"""The scheduler of a conservative discrete-event simulation: one rank runs at a time, the one that holds the baton.

Ranks are threads. The baton always goes to the runnable rank with the smallest virtual clock, so that every run is the
same. A rank may run ahead of others; its effects on them are applied in the order of virtual time.

    ready     a heap of (time, turn)          pause(r)      let ranks with a smaller clock run first
    blocked   not in the heap                 settle(...)   apply what is due, before a rank blocks
                                              block(r)      give up the baton until wake(r, time)
    due       a heap of effects               act(r, ...)   apply an effect when all ranks have reached its time
                                              ask(r)        let all others that can act at this time do so first

At equal virtual times, ranks act first, each in its turn; then what they have posted is settled together (``network``);
then ranks that asked (``is_completed()``) continue, all of them before anything is settled again. A rank that only
posts a message keeps the baton, and so does one whose wait can be settled at once: that saves a switch of threads. The
order of ranks at equal times is a race on a real machine. Here it is the order of ranks, or with ``ties`` a random one;
no result should depend on it.

(Ranks are threads and not coroutines because torch's dispatch modes and autograd's queues are thread-local.)
"""

from __future__ import annotations

import heapq
import random
import threading
from collections.abc import Callable
from itertools import count
from typing import Any, Protocol

Moment = tuple[float, int]  # a virtual time, and a turn at that time: ranks, then settling, then ranks that asked
END: Moment = (float("inf"), 0)


class Agenda(Protocol):
    """Pending work, to be settled at the time ``moment`` once no rank can act at that time any more."""

    moment: float

    def settle(self) -> None: ...


class Scheduler:
    """Passes the baton. ``clock[r]``: the virtual time of rank r in seconds; ``operations``: how many operations ranks
    have done, by which a supervisor sees progress. ``on_stall`` is called when no rank can run: a deadlock."""

    def __init__(
        self,
        ranks: int,
        on_stall: Callable[[], None],
        on_switch: Callable[[int], None],
        ties: int | None = None,
    ) -> None:
        self.clock = [0.0] * ranks
        self.operations = 0
        self.baton: list[int] | memoryview[int] = [0]  # its holder, where cluster_process may read it
        self.finished = [False] * ranks
        self.agenda: Agenda
        self._turn = list(range(ranks))  # of each rank, among those that act at the same time
        if ties is not None:
            random.Random(ties).shuffle(self._turn)
        self._rank_at = sorted(range(ranks), key=self._turn.__getitem__)
        self._settling = ranks  # the turn in which posted operations are settled
        self._ready: list[Moment] = sorted((0.0, turn) for turn in self._turn)
        self._due: list[tuple[float, int, int, Callable[[Any], None], Any]] = []
        self._posted = count()  # keeps the effects of a rank at one time in order
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
        """Wait for the baton; called first by each rank's thread."""
        self._batons[rank].acquire()
        self._on_switch(rank)

    def pause(self, rank: int) -> None:
        """Let all ranks with a smaller clock catch up first."""
        self._give_way(rank, (self.clock[rank], self._turn[rank]))

    def ask(self, rank: int) -> None:
        """Let every rank act that can at this time, and settle what they have posted."""
        self._give_way(rank, (self.clock[rank], self._settling + 1 + self._turn[rank]))

    def act(self, rank: int, effect: Callable[[Any], None], what: Any) -> None:
        """Schedule ``effect(what)`` at the rank's present time, while the rank goes on: it is applied when all ranks
        have reached that time."""
        self.operations += 1
        mine = time, turn = self.clock[rank], self._turn[rank]
        behind = self._ready and self._ready[0] < mine
        if not behind and not self._due and time <= self.agenda.moment:
            effect(what)
            return
        heapq.heappush(self._due, (time, turn, next(self._posted), effect, what))
        if not behind:  # otherwise the rank that is behind comes first
            self._catch_up(mine)

    def at(self, time: float, rank: int, effect: Callable[[Any], None], what: Any) -> None:
        """Schedule ``effect(what)`` for a later ``time``, in the turn of ``rank``."""
        heapq.heappush(self._due, (time, self._turn[rank], next(self._posted), effect, what))

    def is_due(self, rank: int) -> bool:
        """Whether an effect of the rank has not been applied yet."""
        return any(turn == self._turn[rank] for _, turn, *_ in self._due)

    def settle(self, is_over: Callable[[], bool]) -> None:
        """The running rank is about to block: settle what no longer depends on other ranks, until it can run again. It
        may then keep the baton."""
        self._catch_up(END, is_over)

    def block(self, rank: int) -> None:
        """Give up the baton, after ``settle``, until the rank is woken."""
        self.operations += 1
        self._switch_from(rank)

    def wake(self, rank: int, time: float) -> None:
        """Make a blocked rank runnable, at ``time`` or later."""
        self.clock[rank] = max(self.clock[rank], time)
        heapq.heappush(self._ready, (self.clock[rank], self._turn[rank]))

    def finish(self, rank: int) -> None:
        """The rank's function has returned: give up the baton for good."""
        self.finished[rank] = True
        self.operations += 1
        self._catch_up(END)
        if not all(self.finished):
            self._pass_on()

    def advance(self, rank: int, seconds: float) -> None:
        """Advance the rank's clock by ``seconds``."""
        self.clock[rank] += seconds
        self.operations += 1

    def next_time(self) -> float:
        """The virtual time at which another rank acts next, or posted operations are settled; infinity if never."""
        return min([self.agenda.moment, *(heap[0][0] for heap in (self._ready, self._due) if heap)])

    def _give_way(self, rank: int, mine: Moment) -> None:
        self.operations += 1
        self._catch_up(mine)
        if self._ready and self._ready[0] < mine:
            heapq.heappush(self._ready, mine)
            self._switch_from(rank)
        elif mine[1] > self._settling:
            self._all_who_asked(mine[0])

    def _all_who_asked(self, now: float) -> None:
        """Let all ranks that asked at this time continue, each in its turn, before anything that they post is settled:
        it belongs to the same moment."""
        ready, asked = self._ready, []
        while ready and ready[0][0] == now and ready[0][1] > self._settling:
            asked.append(heapq.heappop(ready))
        for _, turn in asked:
            heapq.heappush(ready, (now, turn - self._settling - 1))

    def _catch_up(self, until: Moment, is_over: Callable[[], bool] = lambda: False) -> None:
        """Apply effects and settle operations, in the order of time, that come before ``until`` and before any runnable
        rank; stop when ``is_over()``, that is, when the running rank need not block any more."""
        agenda, ready, due = self.agenda, self._ready, self._due
        while not is_over():
            next_ = ready[0] if ready and ready[0] < until else until
            if due and due[0][0] <= agenda.moment and due[0][:2] <= next_:
                first = heapq.heappop(due)
                first[3](first[4])
            elif agenda.moment <= next_[0] and (agenda.moment, self._settling) < next_:
                agenda.settle()
            else:
                return

    def _switch_from(self, rank: int) -> None:
        self._pass_on()
        self._batons[rank].acquire()
        self._on_switch(rank)

    def _pass_on(self) -> None:
        if not self._ready:
            self._on_stall()
            return
        now, turn = heapq.heappop(self._ready)
        if turn > self._settling:
            self._all_who_asked(now)
        self.baton[0] = following = self._rank_at[turn % (self._settling + 1)]
        self._batons[following].release()
