"""The sum by a tree whose threads at work stand side by side."""

from lockstep.checks.budget import Budget
from lockstep.exercises.gpu.launches import SHARED_REQUESTS, without_conflicts
from lockstep.exercises.gpu.reductions import atomics, blocks, reads, reduction

OF_THE_TREE = 29  # requests of a block to shared memory
AT_LEAST = 6  # 2 warps write what 2 others read; then 1 writes what 1 other reads; the rest of the tree may be shuffles

EXERCISE = reduction(
    number=4,
    core=False,
    title="Let whole warps go",
    minutes=15,
    reference="lockstep.simt.kernels:reduce_sequential",
    of="this tree in shared memory",
    budgets=(
        atomics(1),
        reads(1),
        Budget(SHARED_REQUESTS, lambda case: AT_LEAST * blocks(case), at_most=None, at_least=1),
        Budget(SHARED_REQUESTS, lambda case: OF_THE_TREE * blocks(case), at_most=1.5,
               advice="A warp without a thread at work makes none."),
        without_conflicts(1.05),
    ),
)  # fmt: skip
