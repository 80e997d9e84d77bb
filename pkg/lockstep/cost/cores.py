"""Ranks that share the cores of their machine: a core does one thing at a time, and the rest must wait for their turn.

    K   ranks on the machine        C   its cores

A GPU computes alone, and its network card moves the bytes. Processes on a CPU have neither: a message over loopback is
work for two cores, for as long as it lasts. One copies the bytes into the kernel, the other copies them out. (Counted
by CPU clocks on a two-core server, gloo, 4 bytes to 8 MiB: either end is busy for 0.8 to 0.9 of the time.) So C cores
carry C/2 messages at a time, whoever sends them, and a message beside a computation leaves a core less for it. Then not
the busiest port counts, but the work of all ranks together: no program ends before (all its work) / C.

Work goes to the core that can begin it first, and stays there until it is done (list scheduling: Graham, "Bounds on
multiprocessing timing anomalies", 1969: at most twice the least possible time). A real system changes over every few
milliseconds instead; all are done at about the same time either way.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from lockstep.machines import Cluster, Link

ENDS = 2  # of a message, each of which keeps a core busy

Span = tuple[float, float]  # from, until: seconds


class Cores:
    """When the cores of each node are busy, and so how long work takes that begins now."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._nodes: dict[int, list[list[Span]]] = {}

    def compute(self, rank: int, ready: float, seconds: float) -> float:
        """How long from ``ready`` on until ``rank`` has done ``seconds`` of work: longer if it waits for a core."""
        return self._book(rank, ready, seconds, 1)

    def carry(self, source: int, destination: int, ready: float, seconds: float) -> float:
        """How long a message of ``seconds`` takes: both of its ends must find a core."""
        if self._cluster.cores is None:
            return seconds
        if self._cluster.node(source) == self._cluster.node(destination):
            return self._book(source, ready, seconds, ENDS)
        return max(self._book(rank, ready, seconds, 1) for rank in (source, destination))

    def collective(self, group: Sequence[int], ready: float, seconds: float) -> float:
        """How long a collective of ``seconds`` takes, which keeps busy what its ranks can of the cores of each node."""
        if self._cluster.cores is None:
            return seconds
        on_nodes: dict[int, list[int]] = {}
        for rank in group:
            on_nodes.setdefault(self._cluster.node(rank), []).append(rank)
        return max(self._book(ranks[0], ready, seconds, ENDS * len(ranks)) for ranks in on_nodes.values())

    def _book(self, rank: int, ready: float, seconds: float, jobs: int) -> float:
        C = self._cluster.cores
        if C is None or seconds <= 0:
            return seconds
        cores = self._nodes.setdefault(self._cluster.node(rank), [[] for _ in range(C)])
        return max(first(cores, ready, seconds) for _ in range(min(jobs, C))) - ready


def first(cores: list[list[Span]], ready: float, seconds: float) -> float:
    """Book the first core that can begin at once, or else the one that can begin first. When it will be done."""
    start, chosen = float("inf"), cores[0]
    for core in cores:
        possible = begin(core, ready, seconds)
        if possible < start:
            start, chosen = possible, core
        if start == ready:
            break
    insert(chosen, (start, start + seconds))
    return start + seconds


def begin(core: list[Span], ready: float, seconds: float) -> float:
    """The first moment from ``ready`` on at which the core is free for so long. Ranks ask in the order of their clocks,
    nearly: a gap that was left open may still be filled."""
    if not core or core[-1][1] <= ready:
        return ready
    for start, end in core[max(0, bisect_right(core, (ready, ready)) - 1) :]:
        if ready + seconds <= start:
            break
        ready = max(ready, end)
    return ready


def insert(core: list[Span], span: Span) -> None:
    """Spans that touch become one, so that a busy core stays a short list."""
    i = bisect_right(core, span)
    core.insert(i, span)
    while i + 1 < len(core) and core[i + 1][0] <= core[i][1]:
        core[i : i + 2] = [(core[i][0], max(core[i][1], core[i + 1][1]))]
    if i and core[i][0] <= core[i - 1][1]:
        core[i - 1 : i + 1] = [(core[i - 1][0], core[i][1])]


def shared(link: Link, ranks: int, cores: int | None) -> Link:
    """The link as a collective of ``ranks`` finds it, all of which send and receive at once.

    Each round is K messages of two ends, so 2K pieces of work for C cores: max(1, 2K/C) turns of alpha + n·beta.
    """
    if cores is None or ranks < 2:
        return link
    turns = max(1.0, ranks * min(ENDS, cores) / cores)
    return Link(turns * link.alpha, turns * link.beta, link.source, link.links)
