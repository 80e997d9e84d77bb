"""Local SGD on losses that differ from rank to rank. All numbers are exact, so that a mean forgotten is seen."""

import torch
from torch import Tensor

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.wording import counted
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.without_waiting.moving_bowls import bowl, start

TRIED = ((8, 3), (4, 2), (2, 5), (3, 1), (0, 2))  # steps, period
RATE = 1 / 16


def cases(ranks: int, seed: int) -> list[Case]:
    tried = TRIED if ranks < 5 else TRIED[:2]
    rows = [(None, *row) for row in tried] + [(group, *TRIED[0]) for group in groups(ranks)[1:]]
    return [_case(ranks, seed + n, *row) for n, row in enumerate(rows)]


def _case(ranks: int, seed: int, group: tuple[int, ...] | None, steps: int, period: int) -> Case:
    told = f"{Case(ranks, seed, group)}, {counted(steps, 'step')}, period {period}"
    return Case(
        ranks, seed, group, {"told": told, "steps": steps, "period": period, "trivial": ranks == 1 or not steps}
    )


def inputs(case: Case, rank: int) -> tuple[object, ...]:
    return bowl(case, rank), start(case), case.settings["steps"], RATE, case.settings["period"]


def wanted(case: Case) -> list[Tensor]:
    """All ranks' steps, one rank after another."""
    steps, period = case.settings["steps"], case.settings["period"]
    bowls, models = [bowl(case, rank) for rank in case.members], [start(case)] * case.size
    for step in range(steps):
        models = [w - RATE * gradient(w, step) for gradient, w in zip(bowls, models, strict=True)]
        if (step + 1) % period == 0 or step + 1 == steps:
            models = [torch.stack(models).sum(0) / case.size] * case.size
    return models


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
        lambda case: start(case).nbytes, lambda case: -(-case.settings["steps"] // case.settings["period"])
    ),
    worlds=(1, 2, 3, 4, 8),
    seconds=2.5,
)
