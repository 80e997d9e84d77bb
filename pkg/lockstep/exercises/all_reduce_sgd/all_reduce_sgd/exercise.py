"""Algorithm 1 on data for which every step is exact in float64, in any order: w must be right to the bit."""

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.exercise import Costs, Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import number
from lockstep.checks.observation import Seen
from lockstep.checks.values import result
from lockstep.data_parallel.sgd import sequential_sgd
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.communication.tensors import groups
from lockstep.experiments.all_reduce_sgd.regression import Halved, mean_gradient

SHAPES = {3: (3, 2), 8: (2, 2)}  # of w, by ranks
STEPS = {2: 1, 8: 5}
FINE = 2.0**-30  # which float32 cannot hold; with one step all is exact
Batches = list[tuple[Tensor, Tensor]]


def cases(ranks: int, seed: int) -> list[Case]:
    """On four ranks a single step, too: it tells a wrong step from one that is wrong only later."""
    own = {"shape": SHAPES.get(ranks, (4,)), "each": 2 if ranks == 8 else 8}
    rows: list[tuple[tuple[int, ...] | None, int]] = [(None, 1)] if ranks == 4 else []
    rows += [(group, STEPS.get(ranks, 3) - n) for n, group in enumerate(groups(ranks))]
    return [Case(ranks, seed + n, group, {**own, "steps": steps}) for n, (group, steps) in enumerate(rows)]


def start(case: Case) -> Tensor:
    """The number of ranks is a factor, for who averages models in place of gradients."""
    w = torch.randint(-4, 5, case.settings["shape"], generator=generator(case, -1)).double() / 2
    return case.size * (w + FINE if case.settings["steps"] == 1 else w)


def batches(case: Case, rank: int) -> Batches:
    """Small dyadic numbers. In x the number of ranks is a factor, so that means over them are such numbers, too. Of
    three ranks one has zeros."""
    drawn, shape = generator(case, rank), case.settings["shape"]
    of_x, of_y = ((case.settings["steps"], case.settings["each"], *rest) for rest in (shape[:1], shape[1:]))
    x = torch.randint(-3, 4, of_x, generator=drawn).double() / 2 * case.size
    y = torch.randint(-6, 7, of_y, generator=drawn).double() / 2 + FINE * (case.settings["steps"] == 1)
    return [(x * here, y * here) for x, y in zip(x, y, strict=True) for here in [(case.ranks, rank) != (3, 1)]]


def inputs(case: Case, rank: int) -> tuple[object, ...]:
    return mean_gradient, start(case), batches(case, rank), Halved(case.size / 32)


def wanted(case: Case) -> list[Tensor]:
    by_step = zip(*(batches(case, rank) for rank in case.members), strict=True)
    together = [(torch.cat([x for x, _ in step]), torch.cat([y for _, y in step])) for step in by_step]
    return [sequential_sgd(mean_gradient, start(case), together, Halved(case.size / 32))] * case.size


def examine(seen: Seen) -> Fault | None:
    """Of a single step, how many times as far as it should one goes, if it goes in the right direction."""
    if seen.case.settings["steps"] > 1:
        return None
    for rank, right in zip(seen.case.members, wanted(seen.case), strict=True):
        held, begin = result(seen, rank), start(seen.case)
        if not isinstance(held, Tensor) or (held.shape, held.dtype) != (right.shape, right.dtype):
            return None
        times = ((held - begin) * (right - begin)).sum() / (right - begin).square().sum()
        if number(times.item()) != "1" and torch.allclose(begin + times * (right - begin), held, rtol=1e-12):
            told = f"With {seen.case}: the step of rank {rank} is {number(times.item())} times the right one."
            return Fault("wrong-values", told)
    return None


EXERCISE = Exercise(
    number=2,
    title="Algorithm 1",
    points=4,
    minutes=25,
    parameters="gradient, w, batches, alpha, group=None",
    reference="lockstep.data_parallel.sgd:all_reduce_sgd",
    cases=cases,
    inputs=inputs,
    worlds=(1, 2, 3, 4, 8),
    values=Values(wanted=wanted, examine=examine),
    costs=Costs(budgets=all_reduces(lambda case: start(case).nbytes, lambda case: case.settings["steps"])),
    run=Run(timeout=2.5),
)
