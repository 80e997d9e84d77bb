"""All-reduce by recursive doubling: the fewest rounds that there can be, log2 K, with whole tensors."""

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.dye import total
from lockstep.exercises.communication.all_reduces import LEAST
from lockstep.exercises.communication.halving_doubling_all_reduce.exercise import powers_of_two
from lockstep.exercises.communication.tensors import BUILT_BY_HAND, nbytes, one_tensor, sums


def log2(case: Case) -> int:
    return case.size.bit_length() - 1


EXERCISE = Exercise(
    number=13,
    title="All-reduce by recursive doubling",
    points=3,
    minutes=20,
    parameters="tensor, group=None",
    reference="lockstep.collectives:recursive_doubling_all_reduce",
    core=False,
    cases=powers_of_two,
    inputs=one_tensor,
    wanted=sums,
    by_hand=BUILT_BY_HAND,
    of="recursive doubling",
    budgets=(
        LEAST,
        Budget("messages", log2, "log2 K"),
        Budget("bytes", lambda case: log2(case) * nbytes(case), "log2 K·N"),
        Budget("rounds", log2, "log2 K", advice="Let both partners send and receive at once: isend and irecv."),
    ),
    dye=lambda dyed, case: total(dyed),
    worlds=(1, 2, 4, 8),
    seconds=2.5,
)
