"""Fragments cut by indexing, without the helpers."""

import numpy as np

from lockstep.simt.tensor_core import A_PLACES, B_PLACES, C_PLACES


def fragment_matmul(A, B, mma):
    m, k = A.shape
    n = B.shape[1]
    C = np.empty((m, n), dtype=np.float32)
    for i in range(m // 16):
        for j in range(n // 8):
            total = np.zeros((32, 4), dtype=np.float32)
            for s in range(k // 16):
                piece_a = A[16 * i : 16 * i + 16, 16 * s : 16 * s + 16]
                piece_b = B[16 * s : 16 * s + 16, 8 * j : 8 * j + 8]
                a = piece_a[A_PLACES]
                b = piece_b[B_PLACES]
                total = mma(a, b, total)
            rows, columns = C_PLACES
            C[16 * i + rows, 8 * j + columns] = total
    return C
