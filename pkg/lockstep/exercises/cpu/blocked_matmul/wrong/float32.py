"""The learner thought: float32 is faster, and all other exercises have it."""

import numpy as np
from numba import njit

MISCONCEPTION = "single-precision"


@njit
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m), np.float32)
    for i0 in range(0, n, block):
        for j0 in range(0, m, block):
            for k0 in range(0, p, block):
                for i in range(i0, min(i0 + block, n)):
                    for j in range(j0, min(j0 + block, m)):
                        for k in range(k0, min(k0 + block, p)):
                            C[i, j] += A[i, k] * B[k, j]
    return C
