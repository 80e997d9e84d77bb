"""The ring all-reduce: the sum on every rank, in 2(K-1) rounds of a K-th of the tensor."""

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Costs
from lockstep.exercises.communication.all_reduces import AT_ONCE, SHARE, TOTAL, all_reduce

BY_TURNS = 3  # even ranks send first, odd ranks receive first; with an odd number of ranks two neighbours are alike


def rounds(case: Case) -> int:
    return 2 * (case.size - 1)


EXERCISE = all_reduce(
    number=3,
    title="The ring all-reduce",
    points=5,
    minutes=40,
    reference="lockstep.collectives:ring_all_reduce",
    symmetry="rotation",
    costs=Costs(
        algorithm="a ring",
        budgets=(
            SHARE,
            TOTAL,
            Budget("messages", rounds, "2(K-1)"),
            Budget("rounds", rounds, "2(K-1)", at_most=BY_TURNS, advice=AT_ONCE),
        ),
    ),
)
