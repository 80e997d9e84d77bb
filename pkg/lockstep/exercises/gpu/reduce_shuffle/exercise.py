"""The sum of each warp by five shuffles."""

from lockstep.checks.budget import Budget
from lockstep.checks.exercise import Costs
from lockstep.exercises.gpu.launches import SHARED_REQUESTS, SHUFFLES
from lockstep.exercises.gpu.reductions import WARPS, atomics, blocks, reads, reduction

EXERCISE = reduction(
    number=7,
    core=False,
    title="Without memory",
    minutes=15,
    reference="lockstep.simt.kernels:reduce_shuffle",
    costs=Costs(
        algorithm="a sum by shuffles",
        budgets=(
            atomics(WARPS),
            reads(WARPS),
            Budget(
                SHARED_REQUESTS,
                lambda case: 2 * WARPS * blocks(case),
                at_most=1.5,
                advice="Lanes of a warp can read each other's registers.",
            ),
            Budget(
                SHUFFLES,
                lambda case: 5 * WARPS * blocks(case),
                "5 for each warp",
                at_most=1.5,  # one warp may add up those of a block
                advice="Five rounds are enough: halve the offset each time, and shuffle once in a round.",
            ),
        ),
    ),
)
