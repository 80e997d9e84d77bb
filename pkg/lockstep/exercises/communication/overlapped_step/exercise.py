"""Hide a transfer: the sum of a gradient travels while a product is computed."""

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.measured_overlap import exposed
from lockstep.checks.values import total
from lockstep.exercises.communication.tensors import collective, groups

ROWS, INNER, COLUMNS = 256, 512, 384  # on the simulated machine the product takes about as long as the transfer


def cases(ranks: int, seed: int) -> list[Case]:
    return [Case(ranks, seed + n, group, {"numel": 250_000 + seed % 1000}) for n, group in enumerate(groups(ranks))]


def inputs(case: Case, rank: int) -> list[Tensor]:
    """Quarters: float32 adds and multiplies them exactly."""
    drawn, shapes = generator(case, rank), ((case.settings["numel"],), (ROWS, INNER), (INNER, COLUMNS))
    return [torch.randint(-15, 16, shape, generator=drawn) / 4 for shape in shapes]


def wanted(case: Case) -> list[tuple[Tensor, Tensor]]:
    own = [inputs(case, rank) for rank in case.members]
    right = total([gradient for gradient, _, _ in own])
    return [(right, x @ weights) for _, x, weights in own]


EXERCISE = collective(
    number=5,
    title="Hide a transfer behind compute",
    points=4,
    minutes=25,
    parameters="gradient, x, weights, group=None",
    reference="lockstep.collectives:overlapped_step",
    worlds=(1, 2, 3, 4),
    seconds=5.0,
    cases=cases,
    inputs=inputs,
    wanted=wanted,
    asked="the pair (gradient, product)",
    economise=exposed(2 * ROWS * INNER * COLUMNS, "the product"),
)
