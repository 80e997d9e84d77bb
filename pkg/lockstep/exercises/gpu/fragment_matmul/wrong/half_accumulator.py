"""The learner thought: everything is float16, so the sum is too."""

import numpy as np

from lockstep.simt.tensor_core import A_PLACES, B_PLACES, C_PLACES, load_fragment, store_fragment

MISCONCEPTION = "half-accumulator"
TELL = "An accumulator of float16 keeps 11 binary digits, and the sums need more: begin with float32."


def fragment_matmul(A, B, mma):
    (m, k), n = A.shape, B.shape[1]
    C = np.zeros((m, n), np.float32)
    for i in range(0, m, 16):
        for j in range(0, n, 8):
            c = np.zeros((32, 4), np.float16)
            for step in range(0, k, 16):
                a = load_fragment(A[i : i + 16, step : step + 16], A_PLACES)
                b = load_fragment(B[step : step + 16, j : j + 8], B_PLACES)
                c = mma(a, b, c)
            C[i : i + 16, j : j + 8] = store_fragment(c, C_PLACES)
    return C
