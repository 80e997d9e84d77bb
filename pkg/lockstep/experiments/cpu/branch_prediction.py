# mypy: disable-error-code="untyped-decorator"
"""Branch prediction: a filter with an unpredictable branch, and the same filter without a branch.

A core fetches instructions far ahead, so it has to predict each branch. After a misprediction the work that it began is
discarded: 15 to 20 cycles. Sorted data are easy to predict: no, no, no, ..., yes, yes, yes. Here the branch guards a
store, so that a compiler cannot replace it by a conditional move.
"""

from __future__ import annotations

from typing import Any

from numba import njit


@njit
def keep_below(x: Any, limit: Any, kept: Any) -> int:
    """Copy the elements of ``x`` below ``limit`` to the beginning of ``kept``, and return their number."""
    k = 0
    for i in range(x.size):
        if x[i] < limit:
            kept[k] = x[i]
            k += 1
    return k


@njit
def keep_below_without_branch(x: Any, limit: Any, kept: Any) -> int:
    """The same without a branch: every element is stored, and the position advances only after those that are kept.
    ``kept`` has one element more than ``x``."""
    k = 0
    for i in range(x.size):
        kept[k] = x[i]
        k += x[i] < limit
    return k
