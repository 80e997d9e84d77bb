"""The cost of an all-reduce: measured seconds, or rounds and bytes counted in a run on a virtual cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.machines import Cluster, alpha_beta
from lockstep.worlds import run


@dataclass(frozen=True)
class Counts:
    """The cost of one all-reduce. All but ``rounds`` are in tensors of N bytes, the size that every rank holds."""

    rounds: float  # consecutive messages: the time if each message takes one second, whatever its size
    sends: float  # by the rank that sends the most
    receives: float  # by the rank that receives the most
    total: float  # sent by all ranks together


def counted(all_reduce: Callable[[Tensor], object], ranks: int) -> Counts:
    """Count in a run of ``all_reduce(tensor)`` on ``ranks`` ranks, with 4 elements for each rank."""
    elements = 4 * ranks

    def program() -> None:
        all_reduce(torch.ones(elements))

    result = run(program, ranks=ranks, on=alpha_beta(1, 0))
    trace, N = result.trace, 4 * elements
    sends, receives = (max(of(r).nbytes for r in range(ranks)) / N for of in (trace.sent, trace.received))
    return Counts(result.time, sends, receives, trace.sent().nbytes / N)


def timed(
    all_reduce: Callable[[Tensor], object], nbytes: int, ranks: int, on: str | Cluster = "processes", repeats: int = 3
) -> float:
    """Seconds of ``all_reduce(tensor)`` of ``nbytes`` bytes until the slowest rank is done, the best of ``repeats``."""

    def program() -> list[float]:
        tensor, seconds = torch.ones(nbytes // 4), []
        for _ in range(repeats):
            dist.barrier()
            began = time.perf_counter()
            all_reduce(tensor)
            seconds.append(time.perf_counter() - began)
        return seconds

    by_rank = run(program, ranks=ranks, on=on).values
    best: float = min(max(once) for once in zip(*by_rank, strict=True))
    return best
