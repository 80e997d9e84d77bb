"""The sum of each warp by five shuffles."""

from lockstep.checks.budget import Budget
from lockstep.exercises.gpu.launches import INSTRUCTIONS, SHARED_REQUESTS
from lockstep.exercises.gpu.reductions import WARPS, atomics, blocks, reads, reduction

OF_A_WARP = 33  # instructions; with 31 shuffles there are more than 90

EXERCISE = reduction(
    number=7,
    core=False,
    title="Without memory",
    minutes=15,
    reference="lockstep.simt.kernels:reduce_shuffle",
    of="a sum by shuffles",
    budgets=(
        atomics(WARPS),
        reads(WARPS),
        Budget(SHARED_REQUESTS, lambda case: 2 * WARPS * blocks(case), at_most=1.5,
               advice="Lanes of a warp can read each other's registers."),
        Budget(INSTRUCTIONS, lambda case: OF_A_WARP * WARPS * blocks(case), at_most=2.5,
               advice="Five rounds are enough: halve the offset each time."),
    ),
)  # fmt: skip
