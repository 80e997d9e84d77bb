"""A gradient that travels while a product is computed, and the two factors: for the check of ``overlapped_step``."""

from __future__ import annotations

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.values import total

ROWS, INNER, COLUMNS = 256, 512, 384  # on the simulated machine the product takes about as long as the transfer
PRODUCT = 2 * ROWS * INNER * COLUMNS  # FLOPs


def inputs(case: Case, rank: int) -> list[Tensor]:
    """Quarters: float32 adds and multiplies them exactly. bfloat16 doesn't have all of the gradient, nor of one factor:
    by turns the one or the other. A gradient of float64 has more bits than float32."""
    drawn, shapes = generator(case, rank), ((case.settings["numel"],), (ROWS, INNER), (INNER, COLUMNS))
    most = (4095, 511, 15) if case.group is None else (4095, 15, 511)
    given = [torch.randint(-m, m + 1, s, generator=drawn) / 4 for m, s in zip(most, shapes, strict=True)]
    if case.settings.get("dtype") == "float64":
        given[0] = given[0].double() * (2**30 + 1)
    if rank == case.settings.get("zeros_on"):
        given[0].zero_()
    return given


def wanted(case: Case) -> list[tuple[Tensor, Tensor]]:
    own = [inputs(case, rank) for rank in case.members]
    right = total([gradient for gradient, _, _ in own])
    return [(right, x @ weights) for _, x, weights in own]
