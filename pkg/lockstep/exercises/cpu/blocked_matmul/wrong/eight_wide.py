"""The learner thought: a line holds eight elements, so a block is eight wide."""

import numpy as np
from numba import njit

MISCONCEPTION = "ignores-block"


@njit
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for i0 in range(0, n, 8):
        for k0 in range(0, p, 8):
            for j0 in range(0, m, 8):
                for i in range(i0, min(i0 + 8, n)):
                    for k in range(k0, min(k0 + 8, p)):
                        for j in range(j0, min(j0 + 8, m)):
                            C[i, j] += A[i, k] * B[k, j]
    return C
