"""The learner thought: Blocks are always whole."""

import numpy as np
from numba import njit

MISCONCEPTION = "out-of-bounds"


@njit
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for i0 in range(0, n, block):
        for j0 in range(0, m, block):
            for k0 in range(0, p, block):
                for i in range(i0, i0 + block):
                    for j in range(j0, j0 + block):
                        for k in range(k0, k0 + block):
                            C[i, j] += A[i, k] * B[k, j]
    return C
