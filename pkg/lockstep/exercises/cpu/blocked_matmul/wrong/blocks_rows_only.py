"""The learner thought: Blocks of rows of A."""

import numpy as np
from numba import njit

MISCONCEPTION = "too-many-misses"


@njit
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for i0 in range(0, n, block):
        for i in range(i0, min(i0 + block, n)):
            for k in range(p):
                for j in range(m):
                    C[i, j] += A[i, k] * B[k, j]
    return C
