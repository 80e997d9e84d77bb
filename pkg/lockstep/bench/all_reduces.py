"""The all-reduce algorithms of the course, timed by one program in any world: what two benchmarks have in common."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.collectives import (
    halving_doubling_all_reduce,
    recursive_doubling_all_reduce,
    ring_all_reduce,
    tree_broadcast,
    tree_reduce,
)
from lockstep.launch import processes
from lockstep.launch.job import Job


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

    ``time.perf_counter`` tells virtual time on the virtual cluster, so this is the same program in all worlds.
    """
    for case in cases:
        seconds(*case)  # the first message between two ranks opens their connection
    found: dict[Case, list[float]] = {case: [] for case in cases}
    for _ in range(repeats):
        for case in cases:
            found[case].append(seconds(*case))
    return found


def seconds(algorithm: str, nbytes: int) -> float:
    """Of one all-reduce. Short ones in a row of several: ranks do not leave a barrier at the same time, and with one
    alone the wait for the last of them would be in it. And after one that is not timed: a long tensor has just swept
    the caches."""
    x, row = torch.ones(nbytes // 4), IN_A_ROW if nbytes < LONG else 1
    if row > 1:
        ALGORITHMS[algorithm](x)
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(row):
        ALGORITHMS[algorithm](x)
    return (time.perf_counter() - begin) / row


class Seconds(NamedTuple):
    """Of all repeats. What else runs on the machine adds to ``median``, by whole turns of a core; ``least`` is free of
    it, nearly."""

    median: float
    least: float


def slowest(by_rank: Sequence[Mapping[Case, Sequence[float]]]) -> dict[Case, Seconds]:
    """An all-reduce is done when its slowest rank is."""
    found: dict[Case, Seconds] = {}
    for case in by_rank[0]:
        repeats = [max(times) for times in zip(*(of_rank[case] for of_rank in by_rank), strict=True)]
        found[case] = Seconds(median(repeats), min(repeats))
    return found


def on_processes(cases: Sequence[Case], ranks: int, repeats: int) -> dict[Case, Seconds]:
    """On real processes and gloo. Nothing is recorded: recording costs time."""
    job = Job.pack(taking_turns, (cases, repeats), {}, ranks, timeout=600.0, record=False)
    return slowest(processes.run_processes(job).values)
