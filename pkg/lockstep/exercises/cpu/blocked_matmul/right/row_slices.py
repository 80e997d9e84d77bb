"""Rows of blocks as whole-row expressions: they compile slowly."""

import numpy as np
from numba import njit


@njit
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for ib in range(0, n, block):
        for kb in range(0, p, block):
            for jb in range(0, m, block):
                je = min(jb + block, m)
                for i in range(ib, min(ib + block, n)):
                    for k in range(kb, min(kb + block, p)):
                        C[i, jb:je] += A[i, k] * B[k, jb:je]
    return C
