"""All-reduce by halving and doubling: the bytes of the ring, in 2·log2 K rounds."""

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.dye import total
from lockstep.exercises.communication.all_reduces import LEAST, share
from lockstep.exercises.communication.tensors import BUILT_BY_HAND, itemsize, one_tensor, sums, tensor_cases

BY_TURNS = 2  # blocking calls, one partner sends first and the other receives first


def powers_of_two(ranks: int, seed: int) -> list[Case]:
    return [case for case in tensor_cases(ranks, seed) if case.size & (case.size - 1) == 0]


def rounds(case: Case) -> int:
    return 2 * (case.size.bit_length() - 1)


EXERCISE = Exercise(
    number=8,
    title="All-reduce by halving and doubling",
    points=5,
    minutes=40,
    parameters="tensor, group=None",
    reference="lockstep.collectives:halving_doubling_all_reduce",
    core=False,
    cases=powers_of_two,
    inputs=one_tensor,
    wanted=sums,
    by_hand=BUILT_BY_HAND,
    of="halving and doubling",
    budgets=(
        LEAST,
        Budget("bytes", share, "2(K-1)/K·N", at_least=1,
               slack=lambda case: rounds(case) * itemsize(case)),  # halves may be uneven
        Budget("messages", rounds, "2·log2 K"),
        Budget("rounds", rounds, "2·log2 K", at_most=BY_TURNS,
               advice="Let both partners send and receive at once: isend and irecv."),
    ),
    dye=lambda dyed, case: total(dyed),
    worlds=(1, 2, 4, 8),
    seconds=2.5,
)  # fmt: skip
