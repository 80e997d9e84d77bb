"""Whole pieces of rows at once."""

import numpy as np
from numba import njit


@njit
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for i0 in range(0, n, block):
        for k0 in range(0, p, block):
            for j0 in range(0, m, block):
                for i in range(i0, min(i0 + block, n)):
                    for k in range(k0, min(k0 + block, p)):
                        C[i, j0 : j0 + block] += A[i, k] * B[k, j0 : j0 + block]
    return C
