"""What the exercises on all-reduce algorithms have in common: values, contributions, and budgets for bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, numbers
from lockstep.checks.exercise import Contributions, Costs, Exercise, Symmetry, Values
from lockstep.dye import total
from lockstep.exercises.communication.tensors import BUILT_BY_HAND, collective, nbytes, sums


def share(case: Case) -> float:
    """2(K-1)/K·N: what each rank must send, if all send the same."""
    return 2 * (case.size - 1) * nbytes(case) / case.size


def uneven(case: Case) -> float:
    """What 2(K-1) of the longest chunks have more, where K does not divide the tensor."""
    return 2 * (case.size - 1) * numbers(case, 0).flatten().tensor_split(case.size)[0].nbytes - share(case)


LEAST = Budget("all bytes", lambda case: 2 * (case.size - 1) * nbytes(case), "2(K-1)·N", at_most=None, at_least=1)
TOTAL = replace(LEAST, at_most=1)  # longer chunks at one place are shorter ones at another; padding is more everywhere
SHARE = Budget("bytes", share, "2(K-1)/K·N", at_least=1, slack=uneven)
AT_ONCE = "Let both ends of a message send and receive at once: isend and irecv."


def all_reduce(costs: Costs, symmetry: Symmetry = "any", **fields: Any) -> Exercise:
    """An exercise that asks for an all-reduce, built of messages."""
    return collective(
        values=Values(wanted=sums, may_change=("tensor.values", "tensor.shared")),
        costs=replace(costs, forbidden=BUILT_BY_HAND),
        contributions=Contributions(wanted=lambda dyed, case: total(dyed), symmetry=symmetry),
        **fields,
    )
