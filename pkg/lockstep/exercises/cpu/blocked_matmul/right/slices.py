"""Views of the blocks, and their product in a function of its own."""

import numpy as np
from numba import njit


@njit
def add_product(C, A, B):
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            a = A[i, k]
            for j in range(B.shape[1]):
                C[i, j] += a * B[k, j]


@njit
def blocked_matmul(A, B, block):
    n, p, m = A.shape[0], A.shape[1], B.shape[1]
    C = np.zeros((n, m))
    for i in range(0, n, block):
        for k in range(0, p, block):
            for j in range(0, m, block):
                add_product(
                    C[i : i + block, j : j + block], A[i : i + block, k : k + block], B[k : k + block, j : j + block]
                )
    return C
