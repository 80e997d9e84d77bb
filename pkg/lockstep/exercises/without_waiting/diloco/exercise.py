"""DiLoCo on losses that differ from rank to rank: rounds that do not divide the steps, with and without momentum."""

from collections.abc import Iterator

import torch
from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Comparison, Costs, Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.without_waiting.evidence import case, noting, results
from lockstep.exercises.without_waiting.own_steps import Before, misled, repeated, start_and_middle
from lockstep.exercises.without_waiting.recorded_gradient import MovingBowl, observed
from lockstep.without_waiting.diloco import outer_step, sequential_diloco

TRIED = (  # steps, period, outer rate, momentum
    (8, 3, 0.75, 0.5), (4, 2, 0.5, 0.75), (5, 2, 0.5, 0.0), (2, 5, 1.25, 0.5), (4, 1, 0.75, 0.25), (0, 2, 0.75, 0.5),
)  # fmt: skip
NAMES = "steps", "period", "outer_rate", "momentum"


def cases(ranks: int, seed: int) -> list[Case]:
    rows = [(None, row) for row in TRIED] + [(group, TRIED[0]) for group in groups(ranks)[1:]]
    return [case(ranks, seed + n, group, *(f"{name}={value:g}" for name, value in zip(NAMES, of, strict=True)),
                 of=of, trivial=not of[0]) for n, (group, of) in enumerate(rows)]  # fmt: skip


def inputs(case: Case, rank: int) -> tuple[MovingBowl, Tensor, int, float, int, float, float]:
    steps, period, outer_rate, momentum = case.settings["of"]
    start, middle = start_and_middle(case, rank, 2.0**-24 * (period == 1))  # which float32 cannot hold
    curvature = (1 + rank % 3) * ((case.ranks, rank) != (4, 2))  # of four ranks one has gradients of 0
    return MovingBowl(curvature, middle), start, steps, 1 / 8, period, outer_rate, momentum


def wanted(case: Case) -> Tensor:
    return sequential_diloco([inputs(case, rank)[0] for rank in case.members], *inputs(case, 0)[1:])


def path(case: Case) -> Iterator[Before]:
    """Before each step the right models."""
    _, w, steps, rate, period, outer_rate, momentum = inputs(case, 0)
    v, bowls = torch.zeros_like(w), [inputs(case, rank)[0] for rank in case.members]
    own, before = [w] * case.size, ""
    for step in range(steps):
        yield before, own
        own = [o - rate * bowl(o, step) for o, bowl in zip(own, bowls, strict=True)]
        before = "the rank's own step"
        if (step + 1) % period == 0:
            w, v = outer_step(w, v, torch.stack([w - o for o in own]).mean(0), outer_rate, momentum)
            own, before = [w] * case.size, f"outer step {step // period + 1}, and all ranks begin with the common w"


def examine(seen: Seen) -> Fault | None:
    return misled(seen, wanted(seen.case), path(seen.case), inputs(seen.case, 0)[2])


def rounds(case: Case) -> int:
    steps, period, *_ = case.settings["of"]
    return -int(-steps // period)


EXERCISE = Exercise(
    number=3,
    title="DiLoCo",
    points=3,
    minutes=20,
    parameters="gradient, w, steps, rate, period, outer_rate, momentum, group=None",
    reference="lockstep.without_waiting.diloco:diloco",
    cases=cases,
    inputs=inputs,
    worlds=(1, 2, 3, 4, 8),
    values=Values(examine=examine, may_change=["w.shared"]),
    costs=Costs(
        algorithm="DiLoCo",
        budgets=(
            *all_reduces(lambda case: wanted(case).nbytes, rounds),
            Budget("barriers", lambda case: 0, advice="An all-reduce waits for all ranks as it is."),
        ),
        economise=repeated,
    ),
    comparison=Comparison(alike=results),
    run=Run(watch=noting(observed), timeout=2.5),
)
