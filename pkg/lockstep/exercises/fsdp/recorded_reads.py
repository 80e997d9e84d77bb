"""Saved shards that are read piece by piece, and who read what: for the check of ``reshard``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lockstep.sharded.flat import shard_length, shard_of


class Saved:
    """The N numbers of a ``seed`` as ``ranks`` ranks have saved them. ``reads``: every read, [rank, begin, end]; of
    one that is refused [-1, 0, 0]."""

    def __init__(self, numel: int, ranks: int, seed: int = 0) -> None:
        self.numel, self.ranks, self.seed = numel, ranks, seed
        self.reads: list[list[int]] = []

    def __call__(self, rank: int, begin: int, end: int) -> Tensor:
        n = shard_length(self.numel, self.ranks)
        self.reads.append([-1, 0, 0])
        if not 0 <= rank < self.ranks:
            raise IndexError(f"there is no rank {rank}: {self.ranks} saved")
        if not 0 <= begin < end <= n:
            raise IndexError(f"a shard has {n} numbers: there is nothing to read from {begin} to {end}")
        self.reads[-1] = [rank, begin, end]
        return shard_of(numbers(self.numel, self.seed), rank, self.ranks)[begin:end].clone()


def numbers(numel: int, seed: int = 0) -> Tensor:
    """1 to N, in an order that nobody can know who has not read them."""
    return 1.0 + torch.randperm(numel, generator=torch.Generator().manual_seed(seed))


def observed(fn: Callable[..., Any], numel: int, old: int, new: int, rank: int, seed: int) -> dict[str, Any]:
    """What ``fn`` gives, and what it has read: every read, how many numbers, and how many fewer than a shard that is
    right has."""
    read = Saved(numel, old, seed)
    result = fn(read, numel, old, new, rank)
    count = sum(end - begin for _, begin, end in read.reads)
    right, n = shard_of(numbers(numel, seed), rank, new), shard_length(numel, new)
    own = max(0, min(numel, (rank + 1) * n) - rank * n)
    unread = own - count if isinstance(result, Tensor) and torch.equal(result, right) else 0
    return {"name": "shard", "result": result, "reads": read.reads, "numbers": count, "unread": unread}
