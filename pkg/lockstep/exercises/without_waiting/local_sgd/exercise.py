"""Local SGD on losses that differ from rank to rank. With multiples of K as curvatures the means are exact."""

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
from lockstep.without_waiting.local_sgd import sequential_local_sgd

TRIED = ((8, 3), (4, 2), (2, 5), (3, 1), (0, 2))  # steps, period


def cases(ranks: int, seed: int) -> list[Case]:
    rows = [(None, *row) for row in TRIED] + [(group, *TRIED[0]) for group in groups(ranks)[1:]]
    return [case(ranks, seed + n, group, f"steps={steps}, period={period}", of=(steps, period), trivial=not steps)
            for n, (group, steps, period) in enumerate(rows)]  # fmt: skip


def inputs(case: Case, rank: int) -> tuple[MovingBowl, Tensor, int, float, int]:
    steps, period = case.settings["of"]
    start, middle = start_and_middle(case, rank, 2.0**-24 * (period == 1))  # which float32 cannot hold
    curvature = case.size * (1 + rank % 3) * ((case.ranks, rank) != (4, 2))  # of four ranks one has gradients of 0
    return MovingBowl(curvature, middle), start, steps, 1 / 16, period


def wanted(case: Case) -> Tensor:
    return sequential_local_sgd([inputs(case, rank)[0] for rank in case.members], *inputs(case, 0)[1:])


def path(case: Case) -> Iterator[Before]:
    """Before each step the right models."""
    _, w, steps, rate, period = inputs(case, 0)
    right, bowls = [w] * case.size, [inputs(case, rank)[0] for rank in case.members]
    for step in range(steps):
        yield "the rank's own step" if step % period else "the mean over the ranks", right
        right = [v - rate * bowl(v, step) for v, bowl in zip(right, bowls, strict=True)]
        if (step + 1) % period == 0:
            right = [torch.stack(right).mean(0)] * case.size


def examine(seen: Seen) -> Fault | None:
    return misled(seen, wanted(seen.case), path(seen.case), inputs(seen.case, 0)[2])


EXERCISE = Exercise(
    number=11,
    core=False,
    title="Local SGD",
    points=2,
    minutes=15,
    parameters="gradient, w, steps, rate, period, group=None",
    reference="lockstep.without_waiting.local_sgd:local_sgd",
    cases=cases,
    inputs=inputs,
    worlds=(1, 2, 3, 4, 8),
    values=Values(examine=examine, may_change=["w.shared"]),
    costs=Costs(
        algorithm="local SGD",
        budgets=(
            *all_reduces(lambda case: wanted(case).nbytes, lambda case: -(-inputs(case, 0)[2] // inputs(case, 0)[4])),
            Budget("barriers", lambda case: 0, advice="An all-reduce waits for all ranks as it is."),
        ),
        economise=repeated,
    ),
    comparison=Comparison(alike=results),
    run=Run(watch=noting(observed), timeout=2.5),
)
