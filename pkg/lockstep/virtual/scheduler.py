"""One program counter for K ranks: the baton.

Ranks are threads, but exactly one of them runs: the one that holds the baton. It is always given to the rank with the
smallest virtual clock among those able to run, so every run is the same. What a rank does with the others takes effect
in the order of virtual time, also where it has gone ahead of them.

    ready   a heap of moments                 pause(r)      lets ranks with a smaller clock go first
    blocked no entry: someone must wake it    settle()      what can be settled is, before a rank waits for it
                                              block(r)      then gives the baton away until wake(r, time)
    due     a heap of (moment, ...)           act(r, ...)   takes effect when ranks with a smaller clock have gone
                                              ask(r)        lets all go first that can act at this time

At one virtual time ranks act first, each in its turn; then what they have posted is settled together (``network``);
then ranks that asked go on, all of them before anything is settled again. A rank that only posts a message need not
give the baton away for it, nor one whose wait is settled at once: a switch of threads is spared. Whose turn comes first
at one time is luck on a real machine. Here it is the lower rank's, or with ``ties`` that of a random order: no result
should depend on it.

(Threads it has to be: torch keeps its modes for each thread, and autograd the queue of a backward pass. Coroutines
would share them.)
"""

from __future__ import annotations

import heapq
import random
import threading
from collections.abc import Callable
from itertools import count
from typing import Any, Protocol

Moment = tuple[float, int]  # a virtual time, and whose turn it is then: a rank's, to settle, a rank's that asked
END: Moment = (float("inf"), 0)


class Agenda(Protocol):
    """What is to be settled when no rank can act any more at the time ``moment``."""

    moment: float

    def settle(self) -> None: ...


class Scheduler:
    """``clock[r]`` is the virtual time of rank r in seconds; ``operations`` counts what ranks have done, for a
    supervisor that wants to know whether anything still happens."""

    def __init__(
        self,
        ranks: int,
        on_stall: Callable[[], None],
        on_switch: Callable[[int], None],
        ties: int | None = None,
    ) -> None:
        self.clock = [0.0] * ranks
        self.operations = 0
        self.baton: list[int] | memoryview[int] = [0]  # whose it is; child.py puts it where its starter can read it
        self.finished = [False] * ranks
        self.agenda: Agenda
        self._turn = list(range(ranks))  # of each rank, among those that act at one time
        if ties is not None:
            random.Random(ties).shuffle(self._turn)
        self._rank_at = sorted(range(ranks), key=self._turn.__getitem__)
        self._settling = ranks  # the turn in which is settled what was posted
        self._ready: list[Moment] = sorted((0.0, turn) for turn in self._turn)
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
        self._give_way(rank, (self.clock[rank], self._turn[rank]))

    def ask(self, rank: int) -> None:
        """Let every rank act that can at this time, and what they have posted be settled."""
        self._give_way(rank, (self.clock[rank], self._settling + 1 + self._turn[rank]))

    def act(self, rank: int, effect: Callable[[Any], None], what: Any) -> None:
        """The rank does something now and goes on: ``effect(what)`` comes when every rank that is behind has caught
        up."""
        self.operations += 1
        mine = time, turn = self.clock[rank], self._turn[rank]
        behind = self._ready and self._ready[0] < mine
        if not behind and not self._due and time <= self.agenda.moment:
            effect(what)
            return
        heapq.heappush(self._due, (time, turn, next(self._posted), effect, what))
        if not behind:  # or else nothing is to come before the rank that is
            self._catch_up(mine)

    def is_due(self, rank: int) -> bool:
        """Whether something that the rank did is still without effect."""
        return any(turn == self._turn[rank] for _, turn, *_ in self._due)

    def settle(self, is_over: Callable[[], bool]) -> None:
        """The rank that runs is about to wait. What does not depend on the others any more is settled, until it is able
        to run again: perhaps it need not give the baton away."""
        self._catch_up(END, is_over)

    def block(self, rank: int) -> None:
        """Give the baton away, after ``settle``, until somebody wakes this rank."""
        self.operations += 1
        self._switch_from(rank)

    def wake(self, rank: int, time: float) -> None:
        """A blocked rank may go on, not before ``time``."""
        self.clock[rank] = max(self.clock[rank], time)
        heapq.heappush(self._ready, (self.clock[rank], self._turn[rank]))

    def finish(self, rank: int) -> None:
        """The rank's function has returned: its thread ends and gives the baton away for good."""
        self.finished[rank] = True
        self.operations += 1
        self._catch_up(END)
        if not all(self.finished):
            self._pass_on()

    def advance(self, rank: int, seconds: float) -> None:
        """The rank is busy for so long."""
        self.clock[rank] += seconds
        self.operations += 1

    def next_time(self) -> float:
        """When the next of the other ranks will act, or what they have posted is settled; infinity if never."""
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
        """One of those who asked at this time goes on. So do the others, each in its turn, before anything that they
        post then is settled: it is of one moment."""
        ready, asked = self._ready, []
        while ready and ready[0][0] == now and ready[0][1] > self._settling:
            asked.append(heapq.heappop(ready))
        for _, turn in asked:
            heapq.heappush(ready, (now, turn - self._settling - 1))

    def _catch_up(self, until: Moment, is_over: Callable[[], bool] = lambda: False) -> None:
        """All that comes before ``until``, and before any rank that is able to run: what is due takes effect, and what
        was posted is settled, moment by moment. ``is_over``: whether the rank that runs is able to, too."""
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
