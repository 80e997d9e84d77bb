"""The learner thought: Row times column."""

import numpy as np
from numba import njit

MISCONCEPTION = "walks-columns"
TELL = (
    "About one miss for each product: the innermost loop walks down a column of B, each element of which lies in another "
    "line. Let j be the innermost loop, and use blocks."
)


@njit
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            for k in range(p):
                C[i, j] += A[i, k] * B[k, j]
    return C
