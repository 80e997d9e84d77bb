"""The learner thought: n // block blocks."""

import numpy as np
from numba import njit

MISCONCEPTION = "never-read"


@njit
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for bi in range(n // block):
        for bk in range(p // block):
            for bj in range(m // block):
                for i in range(bi * block, (bi + 1) * block):
                    for k in range(bk * block, (bk + 1) * block):
                        for j in range(bj * block, (bj + 1) * block):
                            C[i, j] += A[i, k] * B[k, j]
    return C
