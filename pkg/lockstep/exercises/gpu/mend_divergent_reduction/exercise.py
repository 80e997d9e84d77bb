"""A sum with four faults, to be mended: three hazards, and blocks that overwrite each other's result."""

from lockstep.checks.budget import Budget
from lockstep.exercises.gpu.launches import SHARED_REQUESTS
from lockstep.exercises.gpu.reductions import atomics, blocks, reads, reduction

OF_THE_TREE = 74  # requests of a block to shared memory

EXERCISE = reduction(
    number=3,
    kind="mend",
    title="A sum that is sometimes right",
    minutes=20,
    reference="lockstep.simt.kernels:reduce_divergent",
    of="a tree in shared memory",
    budgets=(
        atomics(1),
        reads(1),
        Budget(SHARED_REQUESTS, lambda case: OF_THE_TREE * blocks(case), at_most=1.5, advice="Keep the tree."),
    ),
)
