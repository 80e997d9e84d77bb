"""The learner thought: an accumulator may begin with a product of NumPy's."""

import numpy as np

MISCONCEPTION = "no-tensor-core"

from lockstep.simt.tensor_core import A_PLACES, B_PLACES, C_PLACES, load_fragment, store_fragment


def fragment_matmul(A, B, mma):
    (m, k), n = A.shape, B.shape[1]
    C = np.zeros((m, n), np.float32)
    for i in range(0, m, 16):
        for j in range(0, n, 8):
            c = load_fragment(A[i : i + 16, :16].astype(np.float32) @ B[:16, j : j + 8].astype(np.float32), C_PLACES)
            for s in range(16, k, 16):
                a = load_fragment(A[i : i + 16, s : s + 16], A_PLACES)
                b = load_fragment(B[s : s + 16, j : j + 8], B_PLACES)
                c = mma(a, b, c)
            C[i : i + 16, j : j + 8] = store_fragment(c, C_PLACES)
    return C
