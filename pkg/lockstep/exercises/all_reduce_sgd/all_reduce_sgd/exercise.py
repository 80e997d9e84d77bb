"""Algorithm 1 on data of which float64 computes every step exactly, in any order: w must be right to the bit."""

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Exercise
from lockstep.data_parallel.sgd import sequential_sgd
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.communication.tensors import groups
from lockstep.experiments.all_reduce_sgd.regression import Halved, mean_gradient

SHAPES = {3: (3, 2), 8: (2, 2)}  # of w, by ranks
Batches = list[tuple[Tensor, Tensor]]


def cases(ranks: int, seed: int) -> list[Case]:
    shape = SHAPES.get(ranks, (4,))
    return [
        Case(ranks, seed + n, group, {"shape": shape, "steps": 3 - n, "each": 2 if ranks == 8 else 8})
        for n, group in enumerate(groups(ranks))
    ]


def start(case: Case) -> Tensor:
    return torch.randint(-4, 5, case.settings["shape"], generator=generator(case, -1)).double() / 2


def batches(case: Case, rank: int) -> Batches:
    """Small dyadic numbers. In x the number of ranks is a factor, so that means over them are such numbers, too."""
    drawn, shape = generator(case, rank), case.settings["shape"]
    of_x, of_y = ((case.settings["steps"], case.settings["each"], *rest) for rest in (shape[:1], shape[1:]))
    x = torch.randint(-3, 4, of_x, generator=drawn).double() / 2 * case.size
    return list(zip(x, torch.randint(-6, 7, of_y, generator=drawn).double() / 2, strict=True))


def inputs(case: Case, rank: int) -> tuple[object, ...]:
    return mean_gradient, start(case), batches(case, rank), Halved(case.size / 32)


def wanted(case: Case) -> list[Tensor]:
    by_step = zip(*(batches(case, rank) for rank in case.members), strict=True)
    together = [(torch.cat([x for x, _ in step]), torch.cat([y for _, y in step])) for step in by_step]
    return [sequential_sgd(mean_gradient, start(case), together, Halved(case.size / 32))] * case.size


EXERCISE = Exercise(
    number=2,
    title="Algorithm 1",
    points=4,
    minutes=25,
    parameters="gradient, w, batches, alpha, group=None",
    reference="lockstep.data_parallel.sgd:all_reduce_sgd",
    cases=cases,
    inputs=inputs,
    wanted=wanted,
    kept=True,
    budgets=all_reduces(lambda case: start(case).nbytes, lambda case: case.settings["steps"]),
    worlds=(1, 2, 3, 4, 8),
    seconds=2.5,
)
