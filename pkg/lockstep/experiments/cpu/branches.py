# mypy: disable-error-code="untyped-decorator"
"""A jump that nobody can foresee. A core reads far ahead of what it computes, so at each branch it has to guess.

If the guess is wrong, what it began is thrown away: 15 to 20 cycles. Sorted data make the guess easy: no, no, no, ...,
yes, yes, yes. Here the branch guards a store, which a compiler cannot compute without the jump.
"""

from __future__ import annotations

from typing import Any

from numba import njit


@njit
def keep_below(x: Any, limit: Any, kept: Any) -> int:
    """Copy the elements of ``x`` below ``limit`` to the beginning of ``kept``; how many there are."""
    k = 0
    for i in range(x.size):
        if x[i] < limit:
            kept[k] = x[i]
            k += 1
    return k


@njit
def keep_below_without_branch(x: Any, limit: Any, kept: Any) -> int:
    """The same without a jump: every element is stored, and the place moves on only behind those that stay. ``kept``
    has one element more than ``x``."""
    k = 0
    for i in range(x.size):
        kept[k] = x[i]
        k += x[i] < limit
    return k
