"""Local SGD on losses that differ from rank to rank. With multiples of K as curvatures the means are exact."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Exercise
from lockstep.checks.wording import counted
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.communication.tensors import groups
from lockstep.without_waiting.local_sgd import sequential_local_sgd

TRIED = ((8, 3), (4, 2), (2, 5), (3, 1), (0, 2))  # steps, period


@dataclass(frozen=True)
class MovingBowl:
    """The gradient of a parabola in each coordinate, whose middle moves in each step."""

    curvature: float
    middle: Tensor

    def __call__(self, w: Tensor, step: int) -> Tensor:
        return self.curvature * (w - (step + 1) * self.middle)


def cases(ranks: int, seed: int) -> list[Case]:
    rows = [(None, *row) for row in TRIED] + [(group, *TRIED[0]) for group in groups(ranks)[1:]]
    return [_case(ranks, seed + n, *row) for n, row in enumerate(rows)]


def _case(ranks: int, seed: int, group: tuple[int, ...] | None, steps: int, period: int) -> Case:
    told = f"{Case(ranks, seed, group)}, {counted(steps, 'step')}, period {period}"
    easy = ranks == 1 or steps == 0
    return Case(ranks, seed, group, {"told": told, "steps": steps, "period": period, "trivial": easy})


def inputs(case: Case, rank: int) -> tuple[MovingBowl, Tensor, int, float, int]:
    shape, settings = (3, 2) if case.ranks == 3 else (4,), case.settings
    drawn = (torch.randint(-8, 9, shape, generator=generator(case, r)).double() / 2 for r in (-1, rank))
    start, middle = (x.transpose(0, -1) for x in drawn)  # with 3 ranks not contiguous
    return MovingBowl(case.size * (1 + rank % 3), middle), start, settings["steps"], 1 / 16, settings["period"]


def wanted(case: Case) -> list[Tensor]:
    _, start, steps, rate, period = inputs(case, 0)
    gradients = [inputs(case, rank)[0] for rank in case.members]
    return [sequential_local_sgd(gradients, start, steps, rate, period)] * case.size


EXERCISE = Exercise(
    number=3,
    title="Local SGD",
    points=2,
    minutes=15,
    parameters="gradient, w, steps, rate, period, group=None",
    reference="lockstep.without_waiting.local_sgd:local_sgd",
    cases=cases,
    inputs=inputs,
    wanted=wanted,
    rounding=1e-12,
    kept=True,
    of="local SGD",
    budgets=all_reduces(
        lambda case: inputs(case, 0)[1].nbytes, lambda case: -(-case.settings["steps"] // case.settings["period"])
    ),
    worlds=(1, 2, 3, 4, 8),
    seconds=2.5,
)
