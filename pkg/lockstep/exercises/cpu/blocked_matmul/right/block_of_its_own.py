"""A small array for the block of C, which is copied as a whole: it compiles slowly."""

import numpy as np
from numba import njit


@njit
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for i in range(0, n, block):
        ie = min(i + block, n)
        for j in range(0, m, block):
            je = min(j + block, m)
            acc = np.zeros((ie - i, je - j))
            for k in range(0, p, block):
                for r in range(i, ie):
                    for s in range(k, min(k + block, p)):
                        a = A[r, s]
                        for t in range(j, je):
                            acc[r - i, t - j] += a * B[s, t]
            C[i:ie, j:je] = acc
    return C
