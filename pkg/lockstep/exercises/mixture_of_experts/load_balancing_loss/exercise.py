"""The ranks' parts of one loss: their sum, each one's gradient, and an all-reduce of no more than the counts."""

from collections.abc import Iterator

from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, generator
from lockstep.checks.evidence_rules import first
from lockstep.checks.exercise import Comparison, Costs, Exercise, Run, Values
from lockstep.checks.judge import Fault
from lockstep.checks.numbers import apart
from lockstep.checks.observation import Seen
from lockstep.checks.plain import plain
from lockstep.checks.values import told
from lockstep.checks.wording import listed
from lockstep.exercises.all_reduce_sgd.all_reduces import all_reduces
from lockstep.exercises.communication.tensors import SUBGROUPS
from lockstep.exercises.mixture_of_experts.flowing import FLOW, NOTHING, flow
from lockstep.exercises.mixture_of_experts.observed_calls import SHARES, rounded
from lockstep.exercises.mixture_of_experts.observed_loss import (
    GROUPS,
    TASKS,
    Task,
    factor,
    inputs,
    mistake,
    observed,
    wrong,
)
from lockstep.exercises.without_waiting.evidence import case


def cases(ranks: int, seed: int) -> list[Case]:
    rows = [(None, task) for task in TASKS[ranks]] + [(SUBGROUPS[n], task) for n, task in GROUPS.items() if n == ranks]
    told = [f"{listed(t.tokens)} tokens, {t.experts} experts, k = {t.k}{', ' * bool(t.how)}{t.how}" for _, t in rows]
    return [case(ranks, seed + n, row[0], told[n], task=list(row[1])) for n, row in enumerate(rows)]


def given(case: Case, rank: int) -> tuple[Tensor, Tensor]:
    r = case.members.index(rank) if rank in case.members else 0
    return inputs(Task(*case.settings["task"]), r, generator(case, rank))


def faults(seen: Seen) -> Iterator[tuple[str, str]]:
    found = [seen.returned[rank] for rank in seen.case.members]
    for rank, e in zip(seen.case.members, found, strict=True):
        if not isinstance(e["part"], Tensor) or e["part"].numel() != 1:
            yield "wrong-type", f"rank {rank} returns {told(e['part'])}; a tensor of one number is wanted."
            return
    for what, r, held, want in wrong(found, [given(seen.case, rank) for rank in seen.case.members]):
        rank = seen.case.members[r]
        if what == "empty":
            yield "wrong-values", f"rank {rank} has no tokens: its part is 0, not {held:.4g}."
        elif what == "sum":
            rows, (there, right) = listed([f"{part:.4g}" for part in held]), apart(sum(held), want)
            summed = f"the ranks' parts, {rows}, add up to {there}. The loss of all tokens is {right}."
            by = factor(Task(*seen.case.settings["task"]), sum(held), want)
            own = [given(seen.case, rank) for rank in seen.case.members]
            yield "wrong-values", f"{summed}{by or mistake(own, sum(held))}"
        elif fault := first(FLOW, NOTHING | flow(["scores"], held, [want], SHARES)):
            yield fault.misconception, f"on rank {rank}, {fault.message}"


def examine(seen: Seen) -> Fault | None:
    return next((Fault(id, f"With {seen.case}: {said}", telling=True) for id, said in faults(seen)), None)


EXERCISE = Exercise(
    number=3,
    title="The load-balancing loss",
    points=4,
    minutes=20,
    cases=cases,
    inputs=given,
    parameters="scores, experts, group=None",
    reference="lockstep.experts.functional:load_balancing_loss",
    values=Values(examine=examine),
    costs=Costs(
        algorithm="the loss",
        budgets=(
            *all_reduces(lambda case: 8 * (case.settings["task"][1] + 1)),
            Budget("barriers", lambda case: 0, advice="The all-reduce is enough: it needs no barrier."),
        ),
    ),
    comparison=Comparison(
        alike=lambda seen: [[rounded([*seen.returned[rank].values()])] for rank in seen.case.members],
    ),
    run=Run(timeout=2.5, watch=lambda fn, own: {**(seen := observed(fn, own)), "part": plain(seen["part"])}),
)
