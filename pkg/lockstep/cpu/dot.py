# mypy: disable-error-code="untyped-decorator"
"""The dot product: the sum of x[i]·y[i]. Its difficulty is a chain of dependent additions.

    one accumulator      s += x[i]·y[i]           each addition waits for the one before: 2 to 4 cycles
    four accumulators    s0 += ... s3 += ...      four additions are in flight at once: instruction-level parallelism
    REORDER              the compiler may reorder additions, so each accumulator becomes a vector: SIMD

Floating-point addition is not associative: (a + b) + c and a + (b + c) differ in the last bits. So a compiler must keep
the order that you wrote, unless you allow it to reorder. ``fastmath=True`` would allow more: it also assumes that there
is no NaN, and then ``x != x`` is False for one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

# reassociate additions; fuse a product and a sum into one instruction; ignore the sign of zero
REORDER = {"reassoc", "contract", "nsz"}


@njit(fastmath=REORDER)
def dot(x: Any, y: Any) -> Any:
    """The dot product of two float32 arrays of one length, with four independent accumulators: one per quarter.

    The compiler vectorises each. Quarters, and not every fourth element, because the lanes of a vector are neighbours.
    """
    m = x.size // 4
    x0, x1, x2, x3 = x[:m], x[m : 2 * m], x[2 * m : 3 * m], x[3 * m : 4 * m]
    y0, y1, y2, y3 = y[:m], y[m : 2 * m], y[2 * m : 3 * m], y[3 * m : 4 * m]
    s0 = s1 = s2 = s3 = np.float32(0)
    for i in range(m):
        s0 += x0[i] * y0[i]
        s1 += x1[i] * y1[i]
        s2 += x2[i] * y2[i]
        s3 += x3[i] * y3[i]
    for i in range(4 * m, x.size):  # the remaining elements, up to three
        s0 += x[i] * y[i]
    return (s0 + s1) + (s2 + s3)
