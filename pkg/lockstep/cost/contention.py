"""Ports and cores that are busy, and times that vary: what a real machine adds to the time of a message alone.

**Calendar.** A port or a core does one piece of work at a time. Work is booked for the earliest time at which it fits,
in a gap that earlier bookings have left or at the end; what is booked never moves. (List scheduling: Graham, "Bounds on
multiprocessing timing anomalies", 1969.)

**Cores.** Ranks share the cores of their machine, and wait for their turn.

    K   ranks on the machine        C   its cores

A GPU computes alone, and its network card moves the bytes. Processes on a CPU have neither: a message over loopback is
work for two cores, for as long as it lasts. One copies the bytes into the kernel, the other copies them out. (Counted
by CPU clocks on a two-core server, gloo, 4 bytes to 8 MiB: either end is busy for 0.8 to 0.9 of the time.) So C cores
carry C/2 messages at a time, of all ranks together, and a message in parallel with a computation leaves one core
less for it. Then the busiest port is not the limit, but the work of all ranks together: no program ends before
(all its work) / C.

Work goes to the core that can begin it first, and stays there until it is done (by ``Calendar``: at most twice the
least possible time). A message begins when both of its cores are free. A real system switches every few milliseconds
instead; all are done at about the same time either way.

**Jitter.** Times are multiplied by random factors of mean 1, lognormal, so that none is negative and a few are far
above the others.

    c    coefficient of variation of the factor, standard deviation / mean
    σ²   ln(1 + c²), the variance of its logarithm; the logarithm's mean is -σ²/2, which makes the factor's mean 1

Each rank draws from streams of its own, once for each communication that it posts, in the order of its own program. So
the n-th factor of a rank depends on the seed, the rank and n alone, and not on which rank is simulated first.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random

from lockstep.machines import Cluster, Jitter, Link

MANY = 64  # spans of a calendar; those that are over are forgotten then

Span = tuple[float, float]  # from, until: seconds


class Calendar:
    """When one port or one core is busy. From ``free`` on nothing is booked."""

    __slots__ = ("free", "spans")

    def __init__(self) -> None:
        self.spans: list[Span] = []  # in order; those that touched are one
        self.free = 0.0

    def earliest(self, ready: float, seconds: float) -> float:
        """The first time from ``ready`` on at which it is idle for ``seconds``."""
        if ready >= self.free:
            return ready
        for start, end in self.spans[max(0, bisect_right(self.spans, (ready, ready)) - 1) :]:
            if ready + seconds <= start:
                break
            ready = max(ready, end)
        return ready

    def book(self, start: float, end: float, now: float = 0.0) -> None:
        """Mark it busy from ``start`` until ``end``. The caller promises to book nothing before ``now`` any more."""
        spans = self.spans
        if now >= self.free:  # all that was booked is over
            self.spans, self.free = [(start, end)], end
            return
        if start > self.free:
            spans.append((start, end))
        elif start == self.free:
            spans[-1] = spans[-1][0], end
        else:
            self._fill(start, end)
        if end > self.free:
            self.free = end
        if len(spans) > MANY:
            del spans[: max(0, bisect_right(spans, (now, now)) - 1)]

    def _fill(self, start: float, end: float) -> None:
        """Book a gap between spans, or a part of one."""
        spans = self.spans
        insort(spans, (start, end))
        i = bisect_right(spans, (start, end)) - 1
        if i + 1 < len(spans) and spans[i + 1][0] <= end:
            spans[i : i + 2] = [(start, max(end, spans[i + 1][1]))]
        if i and start <= spans[i - 1][1]:
            spans[i - 1 : i + 1] = [(spans[i - 1][0], max(spans[i - 1][1], spans[i][1]))]


def together(calendars: Sequence[Calendar], ready: float, seconds: float) -> float:
    """The first time from ``ready`` on at which all of them are idle for ``seconds``."""
    while True:
        start = ready
        for calendar in calendars:
            start = calendar.earliest(start, seconds)
        if start == ready:
            return start
        ready = start


# ---- the cores of a machine

ENDS = 2  # of a message, each of which keeps a core busy

Demand = Mapping[int, int]  # node: how many of its cores


class Cores:
    """When the cores of each node are busy."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._nodes: dict[int, list[Calendar]] = {}

    def compute(self, rank: int, ready: float, seconds: float) -> float:
        """Seconds from ``ready`` until ``rank`` has done ``seconds`` of work: more if it waits for a core. Books it."""
        if self._cluster.cores is None or seconds <= 0:
            return seconds
        demand = {self._cluster.node(rank): 1}
        start = self.earliest(demand, ready, seconds)
        self.book(demand, start, seconds)
        return start + seconds - ready

    def message(self, source: int, destination: int) -> Demand:
        """The cores that a message occupies while it lasts: one at each of its ends."""
        return self._demand((source, destination))

    def collective(self, group: Sequence[int]) -> Demand:
        """The cores that a collective occupies: as many on each node as its ranks can keep busy."""
        return self._demand([*group] * ENDS)

    def earliest(self, demand: Demand, ready: float, seconds: float) -> float:
        """The first time from ``ready`` on at which the cores of ``demand`` are idle for ``seconds``."""
        while True:
            start = max([ready, *(self._on_node(node, jobs, ready, seconds) for node, jobs in demand.items())])
            if start == ready:
                return start
            ready = start

    def book(self, demand: Demand, start: float, seconds: float) -> None:
        """Book idle cores, of these the ones that were busy last, so that gaps stay long."""
        for node, jobs in demand.items():
            idle = [core for core in self._of(node) if core.earliest(start, seconds) == start]
            for core in sorted(idle, key=lambda core: -core.free)[:jobs]:
                core.book(start, start + seconds)

    def _on_node(self, node: int, jobs: int, ready: float, seconds: float) -> float:
        return sorted(core.earliest(ready, seconds) for core in self._of(node))[jobs - 1]

    def _of(self, node: int) -> list[Calendar]:
        return self._nodes.setdefault(node, [Calendar() for _ in range(self._cluster.cores or 0)])

    def _demand(self, ends: Sequence[int]) -> Demand:
        """One core for each of ``ends``, the ranks that have work, up to all cores of their node."""
        most = self._cluster.cores
        if most is None:
            return {}
        return {node: min(jobs, most) for node, jobs in Counter(map(self._cluster.node, ends)).items()}


def shared(link: Link, ranks: int, cores: int | None) -> Link:
    """The link of a collective of ``ranks`` that share ``cores``, when all of them send and receive at once.

    Each round is K messages of two ends, so 2K pieces of work for C cores: max(1, 2K/C) turns of alpha + n·beta.
    """
    if cores is None or ranks < 2:
        return link
    turns = max(1.0, ranks * min(ENDS, cores) / cores)
    return Link(turns * link.alpha, turns * link.beta, link.source, link.links)


# ---- jitter


class Draws:
    """The random factors of one rank, for its computations and for its messages."""

    def __init__(self, jitter: Jitter, rank: int) -> None:
        self.compute = factors(jitter.compute, f"compute of rank {rank}, seed {jitter.seed}")
        self.message = factors(jitter.messages, f"messages of rank {rank}, seed {jitter.seed}")


def factors(variation: float, seed: str) -> Callable[[], float]:
    """A function that returns one factor after the other, with the coefficient of variation ``variation``."""
    if variation == 0:
        return lambda: 1.0
    stream, variance = Random(seed), math.log1p(variation**2)
    return lambda: stream.lognormvariate(-variance / 2, math.sqrt(variance))
