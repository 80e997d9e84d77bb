"""The learner thought: Each block gives its part of C."""

import numpy as np
from numba import njit

MISCONCEPTION = "overwrites"
TELL = "C holds what the last block of k gave: the blocks before it are overwritten. Add to C[i, j]."


@njit
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for i0 in range(0, n, block):
        for j0 in range(0, m, block):
            for k0 in range(0, p, block):
                for i in range(i0, min(i0 + block, n)):
                    for j in range(j0, min(j0 + block, m)):
                        s = 0.0
                        for k in range(k0, min(k0 + block, p)):
                            s += A[i, k] * B[k, j]
                        C[i, j] = s
    return C
