"""Distributed samplers: which rank trains on which examples of an epoch, in an order that all ranks shuffle alike.

    partition(dataset, rank, ranks, epoch)      even: every example on one rank; no message is sent
    overlapping(dataset, rank, ranks, epoch)    every example on two ranks: if one of them fails, nothing is lost
    dynamic_split(count, seconds)               a rank takes the next examples when it has done its own: slow ones
                                                take fewer

The first two shuffle with a random generator seeded by the epoch alone. So all ranks get the same order, and each takes
its own part of it. The global random state is untouched.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence, Sized
from typing import TypeVar

import torch
from torch.utils.data import Sampler

from lockstep.tables import Table

Example = TypeVar("Example")


def partition(dataset: Sequence[Example], rank: int, ranks: int, epoch: int) -> list[Example]:
    """This rank's examples in this epoch: in every epoch each example is on exactly one rank, sizes differ by at most
    one, and order and shares are shuffled anew. No communication; the same call returns the same on any rank."""
    return [dataset[i] for i in permutation(len(dataset), epoch)[rank::ranks]]


def permutation(count: int, epoch: int) -> list[int]:
    """0 ... count - 1 in the order of this epoch, the same on every rank."""
    return torch.randperm(count, generator=torch.Generator().manual_seed(epoch)).tolist()


def overlapping(dataset: Sequence[Example], rank: int, ranks: int, epoch: int, copies: int = 2) -> list[Example]:
    """The same with every example on ``copies`` ranks: a rank has its own share and those of the next ranks. It costs
    ``copies`` times the work, and as long as fewer than ``copies`` ranks fail, every example is seen."""
    shares = (partition(dataset, (rank + k) % ranks, ranks, epoch) for k in range(min(copies, ranks)))
    return [example for share in shares for example in share]


def dynamic_split(count: int, seconds: Sequence[float], at_once: int = 1) -> list[list[int]]:
    """Examples 0 ... count - 1 from a common pool: rank r takes the next ``at_once`` whenever it has done its own,
    ``seconds[r]`` each. Returns what each rank took; of two that finish at the same time the lower rank is first."""
    taken: list[list[int]] = [[] for _ in seconds]
    free = [(0.0, rank) for rank in range(len(seconds))]
    for begin in range(0, count, at_once):
        now, rank = heapq.heappop(free)
        examples = range(begin, min(begin + at_once, count))
        taken[rank] += examples
        heapq.heappush(free, (now + len(examples) * seconds[rank], rank))
    return taken


class EpochSampler(Sampler[int]):
    """The positions of this rank's examples, for a ``torch.utils.data.DataLoader``: ``partition`` as a sampler.

    Call ``set_epoch(epoch)`` before every epoch, on every rank. Without it every epoch has the same shares in the same
    order, and there is no error. ``torch.utils.data.distributed.DistributedSampler`` is used in the same way and draws
    the same order, but where the ranks do not divide the examples, it repeats some of them."""

    def __init__(self, dataset: Sized, rank: int, ranks: int) -> None:
        self.count, self.rank, self.ranks, self.epoch = len(dataset), rank, ranks, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        return iter(partition(range(self.count), self.rank, self.ranks, self.epoch))

    def __len__(self) -> int:
        return len(range(self.rank, self.count, self.ranks))


def splits_table(examples: int = 12, ranks: int = 4, epochs: int = 2) -> Table:
    """The examples of each rank by epoch, and how many are seen never, once and more often, for the three splits. In
    the dynamic one the last rank is half as fast as the others."""
    speeds = [1.0] * (ranks - 1) + [2.0]
    rows = []
    for epoch in range(epochs):
        order = permutation(examples, epoch)
        splits = {
            "even": [partition(range(examples), rank, ranks, epoch) for rank in range(ranks)],
            "overlapping": [overlapping(range(examples), rank, ranks, epoch) for rank in range(ranks)],
            "dynamic": [[order[i] for i in taken] for taken in dynamic_split(examples, speeds)],
        }
        rows += [seen(name, epoch, examples, shares) for name, shares in splits.items()]
    caption = (
        f"{examples} examples on {ranks} ranks. Rank {ranks - 1} is half as fast, which the dynamic split notices. "
        "Right: how many examples are seen never, once, more often."
    )
    head = ["split", "epoch", *(f"rank {rank}" for rank in range(ranks)), "never", "once", "more"]
    return Table(caption, head, sorted(rows, key=lambda cells: list(splits).index(cells[0])))


def seen(name: str, epoch: int, examples: int, shares: Sequence[Sequence[int]]) -> list[str]:
    """The cells of one epoch: the shares, and how many examples are seen how often."""
    times = Counter(i for share in shares for i in share)
    often = Counter(min(times[i], 2) for i in range(examples))
    return [name, str(epoch), *(" ".join(map(str, share)) for share in shares), *(str(often[k]) for k in range(3))]
