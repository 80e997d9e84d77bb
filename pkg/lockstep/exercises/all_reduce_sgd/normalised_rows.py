"""Rows normalised by the statistics of all ranks' rows, and what a rank subtracts and divides by instead."""

from __future__ import annotations

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import number
from lockstep.checks.observation import Seen
from lockstep.checks.values import result
from lockstep.exercises.all_reduce_sgd.rows import shape_of

EPS = 0.25  # large enough to be seen where it is forgotten
QUIET = 3  # this rank has zeros


def inputs(case: Case, rank: int) -> tuple[Tensor, float]:
    """Each rank's rows lie around another number: the variance of all is more than the mean of variances."""
    drawn = torch.randn(shape_of(case, rank), generator=generator(case, rank), dtype=torch.float64)
    return (drawn + rank % 3) * (rank != QUIET), EPS


def normalised(case: Case) -> list[Tensor]:
    own = [inputs(case, rank)[0] for rank in case.members]
    variance, mean = torch.var_mean(torch.cat(own), dim=0, correction=0)
    return [(x - mean) / (variance + EPS).sqrt() for x in own]


def examine(seen: Seen) -> Fault | None:
    """What a rank subtracts and divides by, where that is what it does, and it is not what it should be."""
    for rank, right in zip(seen.case.members, normalised(seen.case), strict=True):
        x, held = inputs(seen.case, rank)[0], result(seen, rank)
        if len(x) < 2 or not isinstance(held, Tensor) or (held.shape, held.dtype) != (right.shape, right.dtype):
            continue
        mine, wanted = (_subtracted_and_divided(x, y) for y in (held, right))
        if not torch.allclose((x - mine[0]) / mine[1], held) or torch.allclose(held, right, rtol=1e-5, atol=1e-5):
            continue
        return Fault("wrong-values", f"With {seen.case}, in column 0 rank {rank} {_apart(mine, wanted)}.")
    return None


def _subtracted_and_divided(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """By column, m and d of y = (x - m) / d, from the first and the last row."""
    divided = (x[-1] - x[0]) / (y[-1] - y[0])
    return x[0] - y[0] * divided, divided


def _apart(mine: tuple[Tensor, Tensor], right: tuple[Tensor, Tensor]) -> str:
    rows = zip(("subtracts", "divides by"), mine, right, strict=True)
    return " and ".join(
        f"{does} {number(round(m[0].item(), 9))}{'' if torch.allclose(m, r) else f' instead of {number(r[0].item())}'}"
        for does, m, r in rows
    )
