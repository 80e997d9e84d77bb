"""The learner thought: only the result has to be float64."""

import numpy as np
from numba import njit

MISCONCEPTION = "single-precision"


@njit
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for i0 in range(0, n, block):
        for k0 in range(0, p, block):
            for j0 in range(0, m, block):
                for i in range(i0, min(i0 + block, n)):
                    for k in range(k0, min(k0 + block, p)):
                        a = np.float32(A[i, k])
                        for j in range(j0, min(j0 + block, m)):
                            C[i, j] += a * np.float32(B[k, j])
    return C
