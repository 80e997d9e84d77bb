"""A sum with three faults, to be mended: a barrier is missing twice, and blocks change the result at once."""

from lockstep.checks.budget import Budget
from lockstep.checks.exercise import Costs
from lockstep.exercises.gpu.launches import BARRIERS, SHARED_REQUESTS
from lockstep.exercises.gpu.reductions import CROSSING, WARPS, atomics, blocks, reads, reduction

OF_THE_TREE = 74  # requests of a block to shared memory

EXERCISE = reduction(
    number=3,
    kind="mend",
    title="A sum that is sometimes right",
    minutes=15,
    reference="lockstep.simt.kernels:reduce_divergent",
    costs=Costs(
        algorithm="a tree in shared memory",
        budgets=(
            atomics(1),
            reads(1),
            Budget(SHARED_REQUESTS, lambda case: OF_THE_TREE * blocks(case), at_most=1.5, advice="Keep the tree."),
            Budget(BARRIERS, lambda case: CROSSING * WARPS * blocks(case), "2 for each warp", at_most=None, at_least=1),
        ),
    ),
)
