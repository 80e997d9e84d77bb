"""Saved shards that are read piece by piece, who read what, and how that is judged: for the check of ``reshard``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lockstep.checks.budget import Measure
from lockstep.checks.evidence_rules import Evidence, Rule
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.sharded.flat import shard_length, shard_of


class Read(int):
    """The seed of what is saved, where a call is told: there it is the function `read`."""

    def __repr__(self) -> str:
        return "read"


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
    right has. "missing": the first number of the vector that the rank needs and does not read, or -1; it is number "at"
    of the shard of the rank "holder". "padded": what stands for 0 in the padding, where all else is right."""
    read = Saved(numel, old, seed)
    result = fn(read, numel, old, new, rank)
    count = sum(end - begin for _, begin, end in read.reads)
    right, n = shard_of(numbers(numel, seed), rank, new), shard_length(numel, new)
    own, length = range(rank * n, min(numel, (rank + 1) * n)), shard_length(numel, old)
    unread = len(own) - count if isinstance(result, Tensor) and torch.equal(result, right) else 0
    had = {holder * length + at for holder, begin, end in read.reads for at in range(begin, end)}
    missing = next((number for number in own if number not in had), -1)
    holder, at = divmod(missing, length)
    padding = result[len(own) :] if isinstance(result, Tensor) and result.shape == right.shape else right[:0]
    so_far = bool(len(padding)) and torch.equal(result[: len(own)], right[: len(own)])
    padded = f"{padding.max():.4g}" if so_far and padding.any() else ""
    facts = {
        "reads": read.reads,
        "numbers": count,
        "unread": unread,
        "missing": missing,
        "holder": holder,
        "at": at,
        "padded": padded,
    }
    return {"name": "shard", "result": result, **facts}


READ = Measure(lambda seen: sum(e["numbers"] for e in seen.returned[0]), "number", "all new ranks read {}", "{} read",
               "numbers")  # fmt: skip
READS = Measure(lambda seen: sum(len(e["reads"]) for e in seen.returned[0]), "time", "read is called {}", "{}", "reads")
RULES = (
    Rule("not-read", lambda e: e["unread"] > 0,
         "the shard is right, and {unread} of its numbers were not read: they came about in another way."),
    Rule("padding-not-zero", lambda e: e["padded"],
         "the numbers of the vector are right, and the padding after them is {padded}, not 0. torch.empty holds any "
         "numbers: pad with zeros."),
)  # fmt: skip


def refused(seen: Seen) -> str:
    """How many calls of read were refused, in a sentence."""
    number = sum(e["reads"].count([-1, 0, 0]) for e in seen.returned[0])
    were = "was" if number == 1 else "were"
    return f"{number} of the calls {were} refused: there was nothing to read." if number else ""


def unread(evidence: Evidence, fault: Fault) -> Fault:
    """What the rank needs and has not read."""
    if evidence["missing"] < 0:
        return fault
    told = (
        "The rank needs number {missing} of the vector, number {at} of rank {holder}'s old shard, and never reads it."
    )
    return replace(fault, message=f"{fault.message} {told.format_map(evidence)}")
