"""What the all-reduces share: the bytes that there must be, and those that the best of them take."""

from __future__ import annotations

from lockstep.checks.budget import Budget
from lockstep.checks.case import Case
from lockstep.exercises.communication.tensors import nbytes


def share(case: Case) -> float:
    """2(K-1)/K·N: what each rank must send, if all send the same."""
    return 2 * (case.size - 1) * nbytes(case) / case.size


LEAST = Budget("all bytes", lambda case: 2 * (case.size - 1) * nbytes(case), "2(K-1)·N", at_most=None, at_least=1)
