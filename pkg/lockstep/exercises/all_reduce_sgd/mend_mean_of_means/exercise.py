"""Mend the mean of means: rows count alike, whichever rank has them. Every right way is exact, to the bit."""

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Exercise
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.all_reduce_sgd.rows import cases, shape_of

DIVIDED = 60  # by every number of rows


def values(case: Case, rank: int) -> tuple[Tensor]:
    """Halves of multiples of 60: the sum of any rank is divided by its rows without a rest."""
    return (torch.randint(-9, 10, shape_of(case, rank), generator=generator(case, rank)).double() * DIVIDED / 2,)


def wanted(case: Case) -> list[Tensor]:
    return [torch.cat([values(case, rank)[0] for rank in case.members]).mean(0)] * case.size


EXERCISE = Exercise(
    number=6, kind="mend", core=False, title="Mend the mean of means", points=2, minutes=15,
    parameters="values, group=None", reference="lockstep.data_parallel.means:mend_mean_of_means", cases=cases,
    inputs=values, wanted=wanted, kept=True, budgets=all_reduces(lambda case: 8 * (case.settings["columns"] + 1)),
    worlds=(1, 2, 3, 4), seconds=2.5,
)  # fmt: skip
