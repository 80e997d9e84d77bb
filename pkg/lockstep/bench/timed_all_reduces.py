"""The all-reduce algorithms of the course, timed by the same program in any world, for two benchmarks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.bench.on_processes import by_rank, slowest
from lockstep.collectives import (
    halving_doubling_all_reduce,
    recursive_doubling_all_reduce,
    ring_all_reduce,
    tree_broadcast,
    tree_reduce,
)


def tree_all_reduce(tensor: Tensor) -> Tensor:
    """A reduce to rank 0, then a broadcast from it."""
    return tree_broadcast(tree_reduce(tensor, dst=0), src=0)


ALGORITHMS: Mapping[str, Callable[[Tensor], object]] = {
    "gloo's all_reduce": dist.all_reduce,
    "ring": ring_all_reduce,
    "halving-doubling": halving_doubling_all_reduce,
    "recursive doubling": recursive_doubling_all_reduce,
    "tree": tree_all_reduce,
}

IN_A_ROW, LONG = 5, 2**20  # bytes
Case = tuple[str, int]  # algorithm, bytes


def taking_turns(cases: Sequence[Case], repeats: int) -> dict[Case, list[float]]:
    """On a rank: seconds of each case, ``repeats`` times over; A B C A B C. Ranks meet before each.

    ``time.perf_counter`` is virtual time on the virtual cluster, so this is the same program in all worlds.
    """
    for case in cases:
        seconds(*case)  # the first message between two ranks opens their connection
    found: dict[Case, list[float]] = {case: [] for case in cases}
    for _ in range(repeats):
        for case in cases:
            found[case].append(seconds(*case))
    return found


def seconds(algorithm: str, nbytes: int) -> float:
    """Of one all-reduce. Short ones are timed several in a row: ranks do not leave a barrier at the same time, and the
    time of a single one would include the wait for the last of them. One more comes first, untimed, as a long tensor
    has just evicted the caches."""
    x, row = torch.ones(nbytes // 4), IN_A_ROW if nbytes < LONG else 1
    if row > 1:
        ALGORITHMS[algorithm](x)
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(row):
        ALGORITHMS[algorithm](x)
    return (time.perf_counter() - begin) / row


class Seconds(NamedTuple):
    """Of all repeats. Other programs on the machine add whole time slices to ``median``, and hardly anything to
    ``least``."""

    median: float
    least: float


def summed_up(found: Sequence[Mapping[Case, Sequence[float]]]) -> dict[Case, Seconds]:
    """``found``: on each rank what ``taking_turns`` returned."""
    return {case: Seconds(median(repeats), min(repeats)) for case, repeats in slowest(found).items()}


def on_processes(cases: Sequence[Case], ranks: int, repeats: int) -> dict[Case, Seconds]:
    """On real processes and gloo."""
    return summed_up(by_rank(taking_turns, (cases, repeats), ranks))
