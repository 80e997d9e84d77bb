"""The sum by a tree whose active threads are neighbours (sequential addressing)."""

from lockstep.checks.budget import Budget
from lockstep.checks.exercise import Costs
from lockstep.exercises.gpu.launches import BARRIERS, SHARED_REQUESTS, without_conflicts
from lockstep.exercises.gpu.reductions import CROSSING, WARPS, atomics, blocks, reads, reduction

OF_THE_TREE = 29  # requests of a block to shared memory

EXERCISE = reduction(
    number=6,
    core=False,
    title="Let whole warps go",
    minutes=15,
    reference="lockstep.simt.kernels:reduce_sequential",
    costs=Costs(
        algorithm="this tree in shared memory",
        budgets=(
            atomics(1),
            reads(1),
            Budget(
                SHARED_REQUESTS,
                lambda case: OF_THE_TREE * blocks(case),
                at_most=1.5,
                advice="A warp without a thread at work makes none.",
            ),
            Budget(BARRIERS, lambda case: CROSSING * WARPS * blocks(case), "2 for each warp", at_most=None, at_least=1),
            without_conflicts(1.05),
        ),
    ),
)
