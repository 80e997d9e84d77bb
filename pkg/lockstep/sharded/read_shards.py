"""Saved shards that are read piece by piece, and who read what: for the check of ``reshard``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lockstep.sharded.flat import shard_length, shard_of


class Saved:
    """The numbers 1 to N as ``ranks`` ranks have saved them. ``reads``: every read, [rank, begin, end]; of one that is
    refused [-1, 0, 0]."""

    def __init__(self, numel: int, ranks: int) -> None:
        self.numel, self.ranks = numel, ranks
        self.reads: list[list[int]] = []

    def __call__(self, rank: int, begin: int, end: int) -> Tensor:
        n = shard_length(self.numel, self.ranks)
        self.reads.append([-1, 0, 0])
        if not 0 <= rank < self.ranks:
            raise IndexError(f"there is no rank {rank}: {self.ranks} saved")
        if not 0 <= begin < end <= n:
            raise IndexError(f"a shard has {n} numbers: there is nothing to read from {begin} to {end}")
        self.reads[-1] = [rank, begin, end]
        return shard_of(numbers(self.numel), rank, self.ranks)[begin:end].clone()


def numbers(numel: int) -> Tensor:
    return torch.arange(1.0, numel + 1)


def observed(fn: Callable[..., Any], numel: int, old: int, new: int, rank: int) -> dict[str, Any]:
    """What ``fn`` gives, and what it has read: every read, and how many numbers."""
    read = Saved(numel, old)
    result = fn(read, numel, old, new, rank)
    count = sum(end - begin for _, begin, end in read.reads)
    return {"name": "shard", "result": result, "reads": read.reads, "numbers": count}
