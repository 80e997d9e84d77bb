"""The learner thought: The blocks are small matrices: multiply them."""

import numpy as np
from numba import njit

MISCONCEPTION = "library-call"


@njit
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for i in range(0, n, block):
        for j in range(0, m, block):
            for k in range(0, p, block):
                C[i : i + block, j : j + block] += A[i : i + block, k : k + block] @ B[k : k + block, j : j + block]
    return C
