"""The learner thought: Exchanging the loops is enough."""

import numpy as np
from numba import njit

MISCONCEPTION = "too-many-misses"


@njit
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for i in range(n):
        for k in range(p):
            for j in range(m):
                C[i, j] += A[i, k] * B[k, j]
    return C
