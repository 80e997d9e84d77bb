"""Hide a transfer: the sum of a gradient travels while a product is computed."""

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Exercise
from lockstep.checks.overlap import exposed
from lockstep.checks.values import total
from lockstep.exercises.communication.tensors import SUBGROUPS

ROWS, INNER, COLUMNS = 256, 512, 384  # on the simulated machine the product takes about as long as the transfer


def cases(ranks: int, seed: int) -> list[Case]:
    groups = [None, *([SUBGROUPS[ranks]] if ranks in SUBGROUPS else [])]
    return [Case(ranks, seed + n, group, {"numel": 250_000 + seed % 1000}) for n, group in enumerate(groups)]


def inputs(case: Case, rank: int) -> tuple[Tensor, Tensor, Tensor]:
    """Quarters: float32 adds and multiplies them exactly."""
    drawn = generator(case, rank)
    shapes = (case.settings["numel"],), (ROWS, INNER), (INNER, COLUMNS)
    gradient, x, weights = (torch.randint(-15, 16, shape, generator=drawn) / 4 for shape in shapes)
    return gradient, x, weights


def wanted(case: Case) -> list[tuple[Tensor, Tensor]]:
    own = [inputs(case, rank) for rank in case.members]
    right = total([gradient for gradient, _, _ in own])
    return [(right, x @ weights) for _, x, weights in own]


EXERCISE = Exercise(
    number=5,
    title="Hide a transfer behind compute",
    points=4,
    minutes=25,
    parameters="gradient, x, weights, group=None",
    reference="lockstep.collectives:overlapped_step",
    worlds=(1, 2, 3, 4),
    cases=cases,
    inputs=inputs,
    wanted=wanted,
    asked="the pair (gradient, product)",
    economise=lambda seen: exposed(seen, 2 * ROWS * INNER * COLUMNS, "the product"),
)
