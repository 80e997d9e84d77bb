"""Ranks that share the cores of their machine: a core does one thing at a time, and the rest must wait for their turn.

    K   ranks on the machine        C   its cores

A GPU computes alone, and its network card moves the bytes. Processes on a CPU have neither: a message over loopback is
work for two cores, for as long as it lasts. One copies the bytes into the kernel, the other copies them out. (Counted
by CPU clocks on a two-core server, gloo, 4 bytes to 8 MiB: either end is busy for 0.8 to 0.9 of the time.) So C cores
carry C/2 messages at a time, whoever sends them, and a message beside a computation leaves a core less for it. Then not
the busiest port counts, but the work of all ranks together: no program ends before (all its work) / C.

Work goes to the core that can begin it first, and stays there until it is done (``calendar``: at most twice the least
possible time). A message begins when both of its cores are free. A real system changes over every few milliseconds
instead; all are done at about the same time either way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from lockstep.cost.calendar import Calendar
from lockstep.machines import Cluster, Link

ENDS = 2  # of a message, each of which keeps a core busy

Demand = Mapping[int, int]  # node: how many of its cores


class Cores:
    """When the cores of each node are busy."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._nodes: dict[int, list[Calendar]] = {}

    def compute(self, rank: int, ready: float, seconds: float) -> float:
        """How long from ``ready`` on until ``rank`` has done ``seconds`` of work: longer if it waits for a core."""
        if self._cluster.cores is None or seconds <= 0:
            return seconds
        demand = {self._cluster.node(rank): 1}
        start = self.earliest(demand, ready, seconds)
        self.book(demand, start, seconds)
        return start + seconds - ready

    def message(self, source: int, destination: int) -> Demand:
        """What a message needs for as long as it lasts: a core at both of its ends."""
        return self._demand((source, destination))

    def collective(self, group: Sequence[int]) -> Demand:
        """What a collective needs: all that its ranks can keep busy of the cores of each node."""
        return self._demand([*group] * ENDS)

    def earliest(self, demand: Demand, ready: float, seconds: float) -> float:
        """The first moment from ``ready`` on from which so many cores are idle for so long."""
        while True:
            start = max([ready, *(self._on_node(node, jobs, ready, seconds) for node, jobs in demand.items())])
            if start == ready:
                return start
            ready = start

    def book(self, demand: Demand, start: float, seconds: float) -> None:
        """Those cores that are idle then: the ones that were busy last come first, so that gaps stay long."""
        for node, jobs in demand.items():
            idle = [core for core in self._of(node) if core.earliest(start, seconds) == start]
            for core in sorted(idle, key=lambda core: -core.free)[:jobs]:
                core.book(start, start + seconds)

    def _on_node(self, node: int, jobs: int, ready: float, seconds: float) -> float:
        return sorted(core.earliest(ready, seconds) for core in self._of(node))[jobs - 1]

    def _of(self, node: int) -> list[Calendar]:
        return self._nodes.setdefault(node, [Calendar() for _ in range(self._cluster.cores or 0)])

    def _demand(self, ends: Sequence[int]) -> Demand:
        """``ends``: the rank of each piece of work."""
        most = self._cluster.cores
        if most is None:
            return {}
        return {node: min(jobs, most) for node, jobs in Counter(map(self._cluster.node, ends)).items()}


def shared(link: Link, ranks: int, cores: int | None) -> Link:
    """The link as a collective of ``ranks`` finds it, all of which send and receive at once.

    Each round is K messages of two ends, so 2K pieces of work for C cores: max(1, 2K/C) turns of alpha + n·beta.
    """
    if cores is None or ranks < 2:
        return link
    turns = max(1.0, ranks * min(ENDS, cores) / cores)
    return Link(turns * link.alpha, turns * link.beta, link.source, link.links)
