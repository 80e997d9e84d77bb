"""The ring all-reduce: the sum on every rank, in 2(K-1) rounds of a K-th of the tensor."""

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.dye import total
from lockstep.exercises.communication.all_reduces import LEAST, share
from lockstep.exercises.communication.tensors import BUILT_BY_HAND, itemsize, one_tensor, sums, tensor_cases

BY_TURNS = 3  # even ranks send first, odd ranks receive first; with an odd number of ranks two neighbours are alike


def uneven(case: Case) -> float:
    """The first chunks are longer by an element where K does not divide the tensor."""
    numel, K = int(case.settings["numel"]), case.size
    return max(2 * (numel - numel // K), 2 * (K - 1) * -(-numel // K)) * itemsize(case) - share(case)


EXERCISE = Exercise(
    number=3,
    title="The ring all-reduce",
    points=5,
    minutes=40,
    parameters="tensor, group=None",
    reference="lockstep.collectives:ring_all_reduce",
    cases=tensor_cases,
    inputs=one_tensor,
    wanted=sums,
    by_hand=BUILT_BY_HAND,
    of="a ring",
    budgets=(
        LEAST,
        Budget("bytes", share, "2(K-1)/K·N", at_least=1, slack=uneven),
        Budget("rounds", lambda case: 2 * (case.size - 1), "2(K-1)", at_most=BY_TURNS,
               advice="Let all ranks send and receive at once: isend and irecv."),
    ),
    dye=lambda dyed, case: total(dyed),
    symmetry="rotation",
    seconds=2.5,
)  # fmt: skip
