"""Many cases of many collectives in one run: what ranks do (``sweep``), and how its trace is taken apart by case."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import cloudpickle
import torch
import torch.distributed as dist
from torch import Tensor

from lockstep import collectives
from lockstep.events import Count, Event
from lockstep.machines import Cluster, Device, Link
from lockstep.worlds import Result, run

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # ranks cannot import a file of the tests

RANKS = (1, 2, 3, 4, 5, 8)
SIZES = (0, 1, 2, 5, 7, 16, 33)
DTYPES = (torch.int64, torch.float32, torch.float64)
WORLDS = {"virtual": "laptop", "processes": "processes"}  # a catalogued cluster: no survey of this machine

EVERYONE = {
    "ring_all_reduce", "ring_reduce_scatter", "ring_all_gather", "star_all_reduce", "peers_all_reduce",
    "unchunked_ring_all_reduce", "recursive_doubling_all_reduce", "halving_doubling_all_reduce",
    "one_reduce_after_another", "binary_tree_all_reduce",
}  # fmt: skip
ROOTED = {"star_broadcast", "star_reduce", "tree_broadcast", "tree_reduce"}
POWERS_OF_TWO = {"recursive_doubling_all_reduce", "halving_doubling_all_reduce"}


@dataclass(frozen=True)
class Case:
    name: str
    size: int
    dtype: torch.dtype
    root: int | None = None

    def input(self, rank: int) -> Tensor:
        """Small whole numbers, of either sign, that differ between ranks: every sum is exact in every dtype."""
        i = torch.arange(self.size)
        return ((i * (rank + 2)) % 7 - 3 + 10 * rank).to(self.dtype)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize


def cases(K: int) -> list[Case]:
    names = sorted(EVERYONE if K & (K - 1) == 0 else EVERYONE - POWERS_OF_TWO)
    everyone = [Case(name, n, dtype) for name in names for n, dtype in tensors(K)]
    roots = sorted({0, 1 % K, K - 1})
    rooted = [Case(name, n, dtype, root) for name in sorted(ROOTED) for n, dtype in tensors(K) for root in roots]
    return everyone + rooted


def tensors(K: int) -> list[tuple[int, torch.dtype]]:
    """Every size in every dtype; with many ranks the dtypes take turns."""
    return [(n, dtype) for i, n in enumerate(SIZES) for j, dtype in enumerate(DTYPES) if K <= 4 or i % 3 == j]


def sweep(todo: Sequence[Case]) -> list[tuple[Tensor, Tensor]]:
    """Per case: the tensor after the call, and what the call returned. A barrier ends each case."""
    results = []
    for case in todo:
        tensor = case.input(dist.get_rank())
        root = () if case.root is None else (case.root,)
        returned = getattr(collectives, case.name)(tensor, *root)
        dist.barrier()
        results.append((tensor, returned.clone()))
    return results


def by_case(events: Sequence[Event]) -> list[list[Event]]:
    """One rank's communication, cut at the barriers."""
    pieces: list[list[Event]] = [[]]
    for event in events:
        if event.kind == "barrier":
            pieces.append([])
        elif event.kind != "compute":
            pieces[-1].append(event)
    return pieces[:-1]


def sent(events: Sequence[Event]) -> Count:
    sends = [e for e in events if e.kind == "send"]
    return Count(len(sends), sum(e.nbytes for e in sends))


def received(events: Sequence[Event]) -> Count:
    recvs = [e for e in events if e.kind == "recv"]
    return Count(len(recvs), sum(e.nbytes for e in recvs))


@cache
def swept(K: int, world: str) -> Result:
    return run(sweep, cases(K), ranks=K, on=WORLDS[world], timeout=120)


def plain_cluster(alpha: float, beta: float) -> Cluster:
    """Every link alike; arithmetic takes no time. What a run takes there is what its messages take."""
    free = Device("free", {"float32": 1e30}, 1e30, 1 << 50, 0.0)
    return Cluster("plain", free, 1, Link(alpha, beta), Link(alpha, beta))


def seconds(fn: Callable[..., object], *args: object, ranks: int, alpha: float = 1.0, beta: float = 0.0) -> float:
    return run(fn, *args, ranks=ranks, on=plain_cluster(alpha, beta)).time
