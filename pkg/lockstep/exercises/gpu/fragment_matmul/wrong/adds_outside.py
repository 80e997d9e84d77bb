"""The learner thought: mma multiplies, and I add."""

import numpy as np

from lockstep.simt.tensor_core import A_PLACES, B_PLACES, C_PLACES, load_fragment, store_fragment

MISCONCEPTION = "too-many-beginnings"


def fragment_matmul(A, B, mma):
    (m, k), n = A.shape, B.shape[1]
    C = np.zeros((m, n), np.float32)
    for i in range(0, m, 16):
        for j in range(0, n, 8):
            c = np.zeros((32, 4), np.float32)
            for step in range(0, k, 16):
                a = load_fragment(A[i : i + 16, step : step + 16], A_PLACES)
                b = load_fragment(B[step : step + 16, j : j + 8], B_PLACES)
                C[i : i + 16, j : j + 8] += store_fragment(mma(a, b, c), C_PLACES)

    return C
