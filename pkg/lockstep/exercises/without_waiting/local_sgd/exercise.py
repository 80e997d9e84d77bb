"""Local SGD on losses that differ from rank to rank. With multiples of K as curvatures the means are exact."""

from dataclasses import replace

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator
from lockstep.checks.default_judge import forgiven
from lockstep.checks.evidence_rules import Rule, first
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Fault
from lockstep.checks.observation import Seen
from lockstep.checks.values import compare
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.communication.tensors import groups
from lockstep.exercises.without_waiting.evidence import case, noting, results
from lockstep.exercises.without_waiting.recorded_gradient import MovingBowl, observed
from lockstep.without_waiting.local_sgd import sequential_local_sgd

TRIED = ((8, 3), (4, 2), (2, 5), (3, 1), (0, 2))  # steps, period
WHY = (  # values are wrong
    Rule("step-numbers", lambda e: e["asked"] != e["steps"], "Rank {rank} asks for the gradients of the steps {asked}; "
         "its steps are {steps}, from the first to the last.", telling=True),
    Rule("w-stands-still", lambda e: e["still"], "Rank {rank} asks for the gradient of step {still[0]} at the same w "
         "as for the last one. First comes a step by that one, on this rank's own w.", telling=True),
)  # fmt: skip


def cases(ranks: int, seed: int) -> list[Case]:
    rows = [(None, *row) for row in TRIED] + [(group, *TRIED[0]) for group in groups(ranks)[1:]]
    return [case(ranks, seed + n, group, f"steps={steps}, period={period}", of=(steps, period), trivial=not steps)
            for n, (group, steps, period) in enumerate(rows)]  # fmt: skip


def inputs(case: Case, rank: int) -> tuple[MovingBowl, Tensor, int, float, int]:
    steps, period = case.settings["of"]
    shape = (3, 2) if case.ranks == 3 else (4,)
    drawn = [torch.randint(-8, 9, shape, generator=generator(case, r)).double() / 2 for r in (-1, rank)]
    start, middle = (x.transpose(0, -1) for x in drawn)  # with 3 ranks not contiguous
    return MovingBowl(case.size * (1 + rank % 3), middle), start, steps, 1 / 16, period


def wanted(case: Case) -> Tensor:
    return sequential_local_sgd([inputs(case, rank)[0] for rank in case.members], *inputs(case, 0)[1:])


def examine(seen: Seen) -> Fault | None:
    """Wrong values; and why, if what the gradients were asked for says that."""
    held, want = results(seen), wanted(seen.case)
    fault = compare(seen, held, [forgiven(value, want, 1e-12) for value in held])
    why = first(WHY, *(seen.returned[rank]["found"] for rank in seen.case.members))
    return replace(why, message=f"{fault.message} {why.message}") if fault and why else fault


EXERCISE = Exercise(
    number=3, title="Local SGD", points=2, minutes=15, parameters="gradient, w, steps, rate, period, group=None",
    reference="lockstep.without_waiting.local_sgd:local_sgd", cases=cases, inputs=inputs, worlds=(1, 2, 3, 4, 8),
    watch=noting(observed), examine=examine, alike=results, kept=True, seconds=2.5, of="local SGD",
    budgets=all_reduces(lambda case: wanted(case).nbytes, lambda case: -(-inputs(case, 0)[2] // inputs(case, 0)[4])),
)  # fmt: skip
