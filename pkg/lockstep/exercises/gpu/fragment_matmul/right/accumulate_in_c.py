"""The accumulator is loaded from C and stored to it in every step: more traffic, as many instructions."""

import numpy as np

from lockstep.simt.tensor_core import A_PLACES, B_PLACES, C_PLACES, load_fragment, store_fragment


def fragment_matmul(A, B, mma):
    C = np.zeros((A.shape[0], B.shape[1]), np.float32)
    for step in range(0, A.shape[1], 16):
        for i in range(0, A.shape[0], 16):
            a = load_fragment(A[i : i + 16, step : step + 16], A_PLACES)
            for j in range(0, B.shape[1], 8):
                b = load_fragment(B[step : step + 16, j : j + 8], B_PLACES)
                c = load_fragment(C[i : i + 16, j : j + 8], C_PLACES)
                C[i : i + 16, j : j + 8] = store_fragment(mma(a, b, c), C_PLACES)
    return C
