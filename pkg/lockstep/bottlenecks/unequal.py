"""One rank that is slow, or one link: a training step on a virtual cluster in which all the others are equal.

Both look alike from a distance: every step takes longer, on every rank. A straggler computes longer, and the others
wait for it in the all-reduce; with a slow link all compute equally long, and the *messages* over one link last longer.
So they are told apart by two counters: computing, by rank; and bytes per second, by link.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import accumulate, pairwise

import torch
import torch.distributed as dist

from lockstep.collectives.ring import ring_all_reduce
from lockstep.events import Trace
from lockstep.machines import Cluster, find
from lockstep.worlds import Result, run

RANKS, SIZE, ELEMENTS = 8, 4096, 4_000_000


def step(rows: int, elements: int = ELEMENTS) -> None:
    """Runs on each rank: a product, then the gradient's ring all-reduce."""
    weights = torch.empty(SIZE, SIZE)
    torch.empty(rows, SIZE) @ weights
    ring_all_reduce(torch.empty(elements))


def shared_step(rows: list[int], elements: int = ELEMENTS) -> None:
    """The same, with ``rows[r]`` rows on rank r: a slow rank gets fewer."""
    step(rows[dist.get_rank()], elements)


def straggling(speed: float = 0.5, rank: int = 3, rows: list[int] | None = None) -> Result:
    """The step with a rank at ``speed`` times the others' speed; with ``rows``, cut up unequally."""
    cluster = find("dgx-a100").with_rank(rank, speed=speed)
    return _on(cluster, rows or [SIZE] * RANKS)


def rows_by_speed(rank: int, speed: float) -> list[int]:
    """As many rows in all, cut up so that all ranks compute equally long: ``rank`` has ``speed`` times the others'."""
    parts = [speed if r == rank else 1.0 for r in range(RANKS)]
    ends = [round(RANKS * SIZE * end / sum(parts)) for end in accumulate(parts, initial=0.0)]
    return [end - begin for begin, end in pairwise(ends)]


def over_slow_link(bandwidth: float = 5e9, ends: tuple[int, int] = (2, 3), rows: int = SIZE) -> Result:
    """The step with one link of ``bandwidth`` bytes/s between two neighbours of the ring."""
    return _on(find("dgx-a100").with_link(*ends, bandwidth=bandwidth), [rows] * RANKS)


def healthy(rows: int = SIZE) -> Result:
    return _on(find("dgx-a100"), [rows] * RANKS)


def _on(cluster: Cluster, rows: list[int]) -> Result:
    return run(shared_step, rows, ranks=len(rows), on=cluster, fake=True)


# ---- counters


def computing(trace: Trace) -> list[float]:
    """Seconds of computation, by rank."""
    return [sum(e.duration for e in trace.of_rank(rank) if e.kind == "compute") for rank in range(trace.ranks)]


def imbalance(seconds: list[float]) -> float:
    """The most by the mean: 1 if all are equal."""
    return max(seconds) * len(seconds) / sum(seconds)


def rates(trace: Trace) -> Mapping[tuple[int, int], float]:
    """Bytes per second of the messages from rank to rank, while they are under way."""
    nbytes: dict[tuple[int, int], int] = defaultdict(int)
    seconds: dict[tuple[int, int], float] = defaultdict(float)
    for event in trace.of_kind("send"):
        if event.peer is not None:
            nbytes[event.rank, event.peer] += event.nbytes
            seconds[event.rank, event.peer] += event.duration
    return {link: nbytes[link] / seconds[link] for link in nbytes if seconds[link]}
