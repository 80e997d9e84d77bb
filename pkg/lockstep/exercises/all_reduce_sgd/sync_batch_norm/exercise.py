"""Batch normalisation over the rows of all ranks: right up to rounding, since roots are rounded anyway."""

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Exercise
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.all_reduce_sgd.rows import cases, shape_of

EPS = 0.25  # large enough to be seen where it is forgotten


def inputs(case: Case, rank: int) -> tuple[Tensor, float]:
    """Each rank's rows lie around another number: the variance of all is more than the mean of variances."""
    drawn = torch.randn(shape_of(case, rank), generator=generator(case, rank), dtype=torch.float64)
    return drawn + rank % 3, EPS


def normalised(case: Case) -> list[Tensor]:
    own = [inputs(case, rank)[0] for rank in case.members]
    variance, mean = torch.var_mean(torch.cat(own), dim=0, correction=0)
    return [(x - mean) / (variance + EPS).sqrt() for x in own]


EXERCISE = Exercise(
    number=7, core=False, title="Batch normalisation over all ranks", points=3, minutes=25,
    parameters="x, eps, group=None", reference="lockstep.data_parallel.batch_norm:sync_batch_norm", cases=cases,
    inputs=inputs, wanted=normalised, rounding=1e-9, kept=True,
    budgets=all_reduces(lambda case: 8 * (2 * case.settings["columns"] + 1)), worlds=(1, 2, 3, 4), seconds=2.5,
)  # fmt: skip
