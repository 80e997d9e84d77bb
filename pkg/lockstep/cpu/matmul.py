# mypy: disable-error-code="untyped-decorator"
"""Blocked matrix multiplication, and why: three orders of the same 2·n³ operations, with very different memory traffic.

Arrays are stored row by row, and memory is moved in lines of 64 bytes: 8 float64 of a row. With M the bytes of the
cache, L elements a line, and matrices that do not fit into M (Lam, Rothberg and Wolf, ASPLOS 1991):

    i, j, k     B is read down its columns: a new line for each element       about n³ misses
    i, k, j     B and C are read along rows: a new line for L elements        about n³/L
    blocked     three blocks of b x b stay in the cache: each element is
                used b times before eviction                                  about 2·n³/(b·L), for 3·b²·8 <= M
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit
def blocked_matmul(A: Any, B: Any, block: int) -> Any:
    """A·B, for A of (n, p) and B of (p, m), in blocks of ``block`` x ``block``: each element that is fetched is used
    ``block`` times. No shape has to be a multiple of ``block``."""
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for i0 in range(0, n, block):
        for k0 in range(0, p, block):
            for j0 in range(0, m, block):
                for i in range(i0, min(i0 + block, n)):
                    row = C[i, j0 : j0 + block]  # slices are clipped at the end of the array
                    for k in range(k0, min(k0 + block, p)):
                        add_multiple(row, A[i, k], B[k, j0 : j0 + block])
    return C


@njit
def add_multiple(y: Any, a: float, x: Any) -> None:
    """y += a·x for two slices of rows.

    The index begins at 0, so the compiler knows that it is never negative. In Python a negative index counts from the
    end: a loop that begins elsewhere has to handle that, and is not vectorised.
    """
    for j in range(y.size):
        y[j] += a * x[j]
