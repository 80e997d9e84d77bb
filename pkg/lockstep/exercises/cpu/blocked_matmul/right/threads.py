"""Rows of blocks by several threads: the text does not forbid it."""

import numpy as np
from numba import njit, prange


@njit(parallel=True)
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for b in prange((n + block - 1) // block):
        for k0 in range(0, p, block):
            for j0 in range(0, m, block):
                for i in range(b * block, min(b * block + block, n)):
                    for k in range(k0, min(k0 + block, p)):
                        for j in range(j0, min(j0 + block, m)):
                            C[i, j] += A[i, k] * B[k, j]
    return C
