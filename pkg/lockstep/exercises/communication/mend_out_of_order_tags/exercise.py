"""Mend two messages that are asked for in the other order than they are sent."""

from dataclasses import replace

from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, numbers
from lockstep.checks.exercise import Costs, Feedback, Values
from lockstep.exercises.communication.tensors import changeable, collective, one


def two_tensors(case: Case, rank: int) -> tuple[Tensor, Tensor]:
    """Of one size, so that they may be mixed up; the second is shorter where the ranks do not divide the first."""
    numel = case.settings["numel"]
    second = {**case.settings, "numel": numel - (numel > 1 and numel % case.ranks > 0)}
    return numbers(case, rank), numbers(replace(case, seed=case.seed + 500, settings=second), rank)


def wanted(case: Case) -> list[tuple[Tensor, Tensor]]:
    """Rank 1 of the group has what rank 0 had; the others have what they had."""
    own = [two_tensors(case, rank) for rank in case.members]
    return [own[0] if seat == 1 else pair for seat, pair in enumerate(own)]


EXERCISE = collective(
    number=12,
    kind="mend",
    core=False,
    title="Mend the tags out of order",
    points=2,
    minutes=15,
    parameters="first, second, group=None",
    reference="lockstep.collectives:mend_out_of_order_tags",
    inputs=two_tensors,
    values=Values(wanted=wanted, may_change=changeable("first", "second")),
    costs=Costs(
        budgets=(
            Budget("collectives", lambda case: 0, advice="Two messages are enough."),
            Budget("all messages", lambda case: 2 * one(case)),
            Budget("all bytes", lambda case: one(case) * sum(t.nbytes for t in two_tensors(case, 0)), at_least=1),
        )
    ),
    feedback=Feedback(answer="(first, second)"),
)
