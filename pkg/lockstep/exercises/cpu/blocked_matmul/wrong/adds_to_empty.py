"""The learner thought: C is filled anyway, so it may begin empty."""

import numpy as np
from numba import njit

MISCONCEPTION = "reads-empty"


@njit
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.empty((n, m))
    for i0 in range(0, n, block):
        for k0 in range(0, p, block):
            for j0 in range(0, m, block):
                for i in range(i0, min(i0 + block, n)):
                    for k in range(k0, min(k0 + block, p)):
                        for j in range(j0, min(j0 + block, m)):
                            C[i, j] += A[i, k] * B[k, j]
    return C
