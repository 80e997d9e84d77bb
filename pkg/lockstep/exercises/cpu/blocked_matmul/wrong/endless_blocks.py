"""The learner thought: a block ends before the last index. (There the next block begins where this one did.)"""

import numpy as np
from numba import njit

MISCONCEPTION = "endless"


@njit
def blocked_matmul(A, B, block):
    n, p = A.shape
    m = B.shape[1]
    C = np.zeros((n, m), dtype=A.dtype)
    k0 = 0
    while k0 < p:
        k1 = min(k0 + block, p - 1)
        for i in range(n):
            for k in range(k0, k1):
                for j in range(m):
                    C[i, j] += A[i, k] * B[k, j]
        k0 = k1
    return C
