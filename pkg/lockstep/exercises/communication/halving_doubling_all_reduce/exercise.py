"""All-reduce by halving and doubling: the bytes of the ring, in 2·log2 K rounds."""

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Costs
from lockstep.exercises.communication.all_reduces import AT_ONCE, SHARE, TOTAL, all_reduce
from lockstep.exercises.communication.broadcast_trees import depth

BY_TURNS = 2  # blocking calls, one partner sends first and the other receives first


def rounds(case: Case) -> int:
    return 2 * depth(case)


EXERCISE = all_reduce(
    number=8,
    core=False,
    title="All-reduce by halving and doubling",
    points=5,
    minutes=40,
    reference="lockstep.collectives:halving_doubling_all_reduce",
    worlds=(1, 2, 4, 8),  # so all groups are powers of two
    costs=Costs(
        algorithm="halving and doubling",
        budgets=(
            SHARE,
            TOTAL,
            Budget("messages", rounds, "2·log2 K"),
            Budget("rounds", rounds, "2·log2 K", at_most=BY_TURNS, advice=AT_ONCE),
        ),
    ),
)
