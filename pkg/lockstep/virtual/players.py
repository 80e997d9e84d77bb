"""Play tapes on a whole cluster: one player for all ranks that do the same at the same time.

    player      a rank that stands for others; it plays its program, a segment of the tape for each instruction
    message     both of its ends are players
    collective  it begins when the players of its group are there, and takes the time of the whole group

Computing takes the seconds of the tape. Messages and collectives are served by the network of the virtual cluster
(``network``): ports, links and rendezvous are those of a run in full. The players take turns as its ranks do: always
the one with the smallest clock.

Players are generators, not threads with tensors: an action costs the host some microseconds. So a step of GPT-3 with
175 billion parameters on 64 GPUs, 8 players with 20,000 actions each, takes seconds.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from lockstep import deadlock_report
from lockstep.comm.backend_rules import RENDEZVOUS
from lockstep.comm.mismatch import rank_state
from lockstep.comm.operation import Operation
from lockstep.cost.contention import Draws
from lockstep.errors import RankState, UsageError
from lockstep.events import POINT_TO_POINT, Memory, Span, Trace
from lockstep.machines import Cluster
from lockstep.residency.memory_timeline import SAMPLES, by_kind, extremes
from lockstep.virtual.data_movement import nothing
from lockstep.virtual.event_log import EventLog
from lockstep.virtual.network import Network
from lockstep.virtual.tape import Bytes, Compute, Post, Segment, Wait


class Step(NamedTuple):
    """An instruction of a player's program. ``key``: of its segment. ``part``: what it works on, such as a chunk of the
    model: a wait is for an operation of the same part. ``work``: the pass of training that begins here, the layer and
    the micro-batch, as events.Span has them; None if it goes on with what was before."""

    key: Hashable
    part: Hashable = None
    work: tuple[str, str, int | None] | None = None


class Cast(NamedTuple):
    """Who plays what. Ranks are global."""

    stands_for: Sequence[int]  # by rank: the player in whose place it would do the same
    program: Callable[[int], Sequence[Step]]  # of a player
    groups: Callable[[int, str], tuple[int, ...]]  # a player's group of that name
    held: Callable[[int], Bytes]  # the bytes that are alive on a player at the beginning


class Played(NamedTuple):
    """``operations``: of the players, in the order of posting. ``memory``: by player."""

    time: float
    trace: Trace
    operations: Sequence[Operation]
    memory: Mapping[int, Memory]


class NoData:
    """The tensor of a message that is played."""

    dtype, shape = None, ()

    def copy_(self, _: Any) -> None: ...


NO_DATA = NoData()


def play(segments: Mapping[Hashable, Segment], cast: Cast, cluster: Cluster) -> Played:
    """Play every program to its end. Raises Deadlock, Mismatch or Unmatched, as a run in full would; and UsageError for
    a cluster whose ranks share cores."""
    if cluster.cores is not None:
        raise UsageError(
            f"The ranks of {cluster.name} share cores: who computes when depends on all of them.",
            "Name a cluster whose ranks have a device each, as dgx-a100; or execute the program: run(...).",
        )
    return Playing(segments, cast, cluster).play()


class Playing:
    """The players, their clocks and their network."""

    def __init__(self, segments: Mapping[Hashable, Segment], cast: Cast, cluster: Cluster) -> None:
        self.segments, self.cast, self.cluster = segments, cast, cluster
        self.players = sorted(set(cast.stands_for))
        ranks = len(cast.stands_for)
        self.clock = [0.0] * ranks
        self.log, self.numbers = EventLog(ranks), count(1)
        self.waiting: dict[int, Operation] = {}
        self.memory = {r: Holding(cast.held(r)) for r in self.players}
        self.spans: dict[int, list[Span]] = {r: [] for r in self.players}
        self._ready = [(0.0, r) for r in self.players]
        self.network = Network(ranks, cluster, RENDEZVOUS, self._wake, frozenset(self.players))

    def play(self) -> Played:
        programs = {r: self._program(r) for r in self.players}
        left, ready, network = len(programs), self._ready, self.network
        while ready or network.moment < float("inf"):
            if not ready or network.moment < ready[0][0]:
                network.settle()  # no player can act at that time any more
                continue
            _, rank = heapq.heappop(ready)
            if next(programs[rank], "end") == "end":
                left -= 1
        if left:
            raise deadlock_report.deadlock([self._state(r) for r in self.players], self._trace())
        if unmatched := list(network.unmatched()):
            raise deadlock_report.left_over(unmatched[0].kind, [rank_state(o) for o in unmatched])
        memory = {r: replace(self.memory[r].told(), spans=tuple(self.spans[r])) for r in self.players}
        return Played(max(self.clock), self._trace(), self.log.operations, memory)

    def _program(self, me: int) -> Iterator[str]:
        """Yields where others may have to act first: before it posts, and until it is woken."""
        clock, memory = self.clock, self.memory[me]
        slow = self.cluster.device.peak("float32") / self.cluster.device_of(me).peak("float32")
        draws = Draws(self.cluster.jitter, me) if self.cluster.jitter else None
        pace, stretch = slow * (draws.compute() if draws else 1.0), 1.0
        joined: dict[str, int] = defaultdict(int)
        posted: dict[tuple[Hashable, Hashable, int], deque[Operation]] = defaultdict(deque)  # and not waited for
        groups: dict[str, tuple[int, ...]] = {}
        for key, part, work in self.cast.program(me):
            segment, n = self.segments[key], 0
            if work:
                self.spans[me].append(Span(clock[me], *work))
            memory.add(clock[me], segment.held)
            for action in segment.actions:
                if type(action) is Compute:
                    start = clock[me]
                    clock[me] = start + action.seconds * pace
                    self.log.book(me, action.names, start, clock[me], action.flops)
                elif type(action) is Post:
                    if self._is_ahead(me):
                        heapq.heappush(self._ready, (clock[me], me))
                        yield "post"
                    if draws:
                        pace, stretch = slow * draws.compute(), draws.message()
                    group = groups.get(action.group) or groups.setdefault(
                        action.group, self.cast.groups(me, action.group)
                    )
                    operation = self._operation(me, action, group, stretch)
                    posted[key, part, n].append(operation)
                    n += 1
                    self._post(operation, joined)
                elif type(action) is Wait:
                    operation = posted[action.key, part, action.n].popleft()
                    if operation.end is None:
                        self.waiting[me], operation.waiting = operation, True
                        yield "wait"
                        del self.waiting[me]
                    self._wait(me, operation)

    def _is_ahead(self, me: int) -> bool:
        """Whether another player, or the network, acts before this one's clock."""
        now = self.clock[me]
        return self.network.moment < now or (bool(self._ready) and self._ready[0] < (now, me))

    def _operation(self, me: int, post: Post, group: tuple[int, ...], stretch: float) -> Operation:
        peer, seat = None, 0
        if post.kind in POINT_TO_POINT and post.offset is not None:
            seat = group.index(me)
            peer = group[(seat + post.offset) % len(group)]
        elif post.offset is not None:
            peer = group[post.offset]
        operation = Operation(
            me, post.kind, self.clock[me], post.nbytes, peer, group, post.group, post.tag, post.place,
            next(self.numbers), post.fits, post.reduction, post.sends, post.takes,
        )  # fmt: skip
        operation.tensors, operation.stretch = NO_DATA, stretch
        if post.kind == "send" and post.offset is not None:
            operation.turn = post.offset % len(group)
        self.log.post(operation)
        return operation

    def _post(self, operation: Operation, joined: dict[str, int]) -> None:
        if operation.kind == "send":
            self.network.send(operation)
        elif operation.kind == "recv":
            self.network.recv(operation)
        else:
            joined[operation.group_name] += 1
            self.network.join(operation, joined[operation.group_name], nothing)

    def _wait(self, me: int, operation: Operation) -> None:
        now, end = self.clock[me], operation.end
        if end is not None and end > now:
            self.clock[me] = end
            operation.wait += end - now
        operation.awaited = True

    def _wake(self, rank: int, time: float) -> None:
        heapq.heappush(self._ready, (max(self.clock[rank], time), rank))

    def _state(self, me: int) -> RankState:
        waits = self.waiting.get(me)
        return rank_state(waits) if waits else RankState(me, "finished")

    def _trace(self) -> Trace:
        ranks = len(self.clock)
        differences = self.cluster.differences(ranks)
        return Trace.of(self.log.events(max(self.clock)), ranks, "virtual", self.cluster.name, differences)


class Holding:
    """The bytes alive on a player, and the highest that they have been."""

    def __init__(self, alive: Bytes) -> None:
        self._alive = self._highest = self._at_peak = alive
        self._samples: list[tuple[float, Bytes]] = [(0.0, alive)]

    def add(self, time: float, held: Any) -> None:
        """A segment that begins at ``time``: its peak counts as of then."""
        self._highest = np.maximum(self._highest, self._alive + held.highest)
        peak = self._alive + held.at_peak
        if peak.sum() > self._at_peak.sum():
            self._at_peak = peak
        self._samples.append((time, peak))
        self._alive = self._alive + held.change

    def told(self) -> Memory:
        totals = np.array([int(alive.sum()) for _, alive in self._samples])
        chosen = [self._samples[i] for i in extremes(totals, SAMPLES)]
        return Memory(
            int(self._at_peak.sum()),
            by_kind(self._at_peak.tolist()),
            by_kind(self._highest.tolist()),
            tuple((time, tuple(alive.tolist())) for time, alive in chosen),
        )
