"""What the all-reduces share: everything but their rounds."""

from __future__ import annotations

from functools import partial

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case, numbers
from lockstep.dye import total
from lockstep.exercises.communication.tensors import BUILT_BY_HAND, collective, nbytes, sums


def share(case: Case) -> int:
    """2(K-1) chunks, the longest if they are uneven: what each rank must send, if all send the same."""
    return 2 * (case.size - 1) * numbers(case, 0).flatten().tensor_split(case.size)[0].nbytes


LEAST = Budget("all bytes", lambda case: 2 * (case.size - 1) * nbytes(case), "2(K-1)·N", at_most=None, at_least=1)
SHARE = Budget("bytes", share, "2(K-1)/K·N")
AT_ONCE = "Let both ends of a message send and receive at once: isend and irecv."

all_reduce = partial(collective, by_hand=BUILT_BY_HAND, wanted=sums, dye=lambda dyed, case: total(dyed))
