"""Grouped all-reduce: ranks average in small groups that change, and hold the exact mean of all after a few rounds.

    K = g**d   ranks            g   ranks of a group           t   round, 0, 1 ...

Write a rank as d digits in base g. In round t, ranks that differ only in digit t mod d form a group and average among
themselves. After d rounds each digit has had its turn, and all ranks hold the mean of all: the hypercube of recursive
doubling, with groups instead of pairs.

    K = 8, g = 2     round 0   {0 1} {2 3} {4 5} {6 7}      K = 9, g = 3     round 0   {0 1 2} {3 4 5} {6 7 8}
                     round 1   {0 2} {1 3} {4 6} {5 7}                       round 1   {0 3 6} {1 4 7} {2 5 8}
                     round 2   {0 4} {1 5} {2 6} {3 7}

A rank that is late keeps g - 1 others waiting in a step, not K - 1. Training does one round a step, so that what a rank
has learnt reaches all others within d steps.

Cost of a round: a ring all-reduce among g ranks, 2(g-1)/g·N bytes a rank. All d rounds together carry more than one
all-reduce over all ranks, 2(K-1)/K·N: d·N for g = 2.
Source: S. Li, T. Ben-Nun, G. Nadiradze, S. Di Girolamo, N. Dryden, D. Alistarh and T. Hoefler, Breaking (Global)
Barriers in Parallel Stochastic Optimization with Wait-Avoiding Group Averaging, IEEE TPDS 32(7), 2021,
arXiv:2005.00124. There a group does not even wait for its own late ranks, and takes what they sent last. Here it waits.
"""

from __future__ import annotations

import time

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.collectives import ring_all_reduce
from lockstep.errors import UsageError
from lockstep.machines import find
from lockstep.straggler import burn
from lockstep.tables import Table
from lockstep.worlds import run

CLUSTER = "dgx-a100"
NUMEL = 1024
LATE = 1e10  # extra FLOP of the late rank: milliseconds on the virtual cluster


def group_of(rank: int, ranks: int, size: int, step: int) -> list[int]:
    """The ranks with which ``rank`` averages in step 0, 1 ..., including itself. Raises UsageError unless ``ranks`` is
    a power of ``size``."""
    digits = number_of_digits(ranks, size)
    place = size ** (step % digits) if digits else 1
    first = rank - rank // place % size * place
    return [first + digit * place for digit in range(size)] if digits else [rank]


def number_of_digits(ranks: int, size: int) -> int:
    """log_g K, the number of rounds after which all ranks agree."""
    digits = 0
    while size > 1 and size**digits < ranks:
        digits += 1
    if size**digits != ranks:
        raise UsageError(f"{ranks} ranks have no such groups of {size}.", "Take a power of the groups' size.")
    return digits


def grouped_all_reduce(x: Tensor, size: int, rounds: int, group: dist.ProcessGroup | None = None) -> Tensor:
    """The mean over this rank's groups of ``size`` ranks, a new tensor like x; after log_g K rounds it is the mean over
    all ranks, up to rounding. ``x`` stays as it was."""
    r, K = dist.get_rank(group), dist.get_world_size(group)
    world = dist.get_process_group_ranks(group)
    groups = [joined([world[m] for m in group_of(r, K, size, t)]) for t in range(number_of_digits(K, size))]
    x = x.clone()
    for t in range(rounds if groups else 0):
        x = ring_all_reduce(x, groups[t % len(groups)]) / size
    return x


def joined(members: list[int]) -> dist.ProcessGroup:
    """A process group of these global ranks, which only they have to create."""
    made: dist.ProcessGroup = dist.new_group(members, use_local_synchronization=True)
    return made


def grouped_table(ranks: int = 16, sizes: tuple[int, ...] = (2, 4, 16)) -> Table:
    """For groups of each size: the rounds until all agree, what that costs, and who waits for one late rank. Raises
    UsageError unless ``ranks`` is a power of each size."""
    head = ["ranks of a group", "rounds", "largest difference then", "tensors sent, a rank", "one a round",
            "wait for a late rank in a round"]  # fmt: skip
    caption = f"{ranks} ranks average in groups that change each round. Counted in runs."
    return Table(caption, head, [_row(ranks, size) for size in sizes])


def _row(ranks: int, size: int) -> list[str]:
    rounds = number_of_digits(ranks, size)
    result = run(averaged, size, rounds, ranks=ranks, on=CLUSTER)
    held = torch.stack(list(result.values))
    sent = max(result.trace.sent(rank).nbytes for rank in range(ranks)) / held[0].nbytes
    return [str(size), str(rounds), f"{(held - held[0]).abs().max():.1g}", f"{sent:.4g}", f"{sent / rounds:.4g}",
            f"{held_up(ranks, size)} of {ranks - 1}"]  # fmt: skip


def averaged(size: int, rounds: int) -> Tensor:
    """A program for every rank: rank r begins with NUMEL times its own number."""
    return grouped_all_reduce(torch.full((NUMEL,), float(dist.get_rank()), dtype=torch.float64), size, rounds)


def held_up(ranks: int, size: int) -> int:
    """How many other ranks cannot finish a round before rank 0, which has more to compute, enters it."""
    seconds = run(round_with_a_late_rank, size, ranks=ranks, on=CLUSTER).values
    late = find(CLUSTER).device
    return sum(s >= LATE / late.peak("float32") for s in seconds[1:])


def round_with_a_late_rank(size: int) -> float:
    """A program for every rank: seconds until it has the mean of its group."""
    begin = time.perf_counter()
    if dist.get_rank() == 0:
        burn(LATE)
    averaged(size, 1)
    return time.perf_counter() - begin
