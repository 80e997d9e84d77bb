"""Mend a circle of waiting: each rank wants its left neighbour's tensor, and all send first."""

from torch import Tensor

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Contributions, Costs, Values
from lockstep.dye import shifted
from lockstep.exercises.communication.tensors import collective, members_tensors, nbytes, one

BY_TURNS = 3  # even ranks send first, odd ranks receive first; with an odd number of ranks two neighbours are alike


def of_the_left(case: Case) -> list[Tensor]:
    own = members_tensors(case)
    return own[-1:] + own[:-1]


EXERCISE = collective(
    number=4,
    kind="mend",
    title="Mend the ring of sends",
    points=2,
    minutes=15,
    reference="lockstep.collectives:mend_ring_of_sends",
    values=Values(wanted=of_the_left, may_change=["tensor.shared"]),
    costs=Costs(
        algorithm="this ring",
        budgets=(
            Budget("collectives", lambda case: 0, advice="One message in and one out is enough."),
            Budget("all bytes", lambda case: case.size * one(case) * nbytes(case), "K·N", at_least=1),
            Budget("messages", one),
            Budget("rounds", one, at_most=BY_TURNS),
        ),
    ),
    contributions=Contributions(wanted=lambda dyed, case: shifted(dyed), symmetry="shift"),
)
