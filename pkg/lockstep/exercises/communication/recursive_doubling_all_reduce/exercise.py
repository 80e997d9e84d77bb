"""All-reduce by recursive doubling: whole tensors, in the fewest rounds that there can be, log2 K."""

from lockstep.checks.budget import Budget
from lockstep.checks.exercise import Costs
from lockstep.exercises.communication.all_reduces import AT_ONCE, LEAST, all_reduce
from lockstep.exercises.communication.broadcast_trees import depth
from lockstep.exercises.communication.tensors import nbytes

EXERCISE = all_reduce(
    number=9,
    core=False,
    title="All-reduce by recursive doubling",
    points=3,
    minutes=20,
    reference="lockstep.collectives:recursive_doubling_all_reduce",
    worlds=(1, 2, 4, 8),  # so all groups are powers of two
    costs=Costs(
        algorithm="recursive doubling",
        budgets=(
            LEAST,
            Budget("messages", depth, "log2 K"),
            Budget("bytes", lambda case: depth(case) * nbytes(case), "log2 K·N"),
            Budget("rounds", depth, "log2 K", advice=AT_ONCE),
        ),
    ),
)
