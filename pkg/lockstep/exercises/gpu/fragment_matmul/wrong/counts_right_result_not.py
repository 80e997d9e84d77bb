"""The learner thought: mma only has to be called."""

import numpy as np

from lockstep.simt.tensor_core import A_PLACES, B_PLACES, load_fragment

MISCONCEPTION = "no-tensor-core"


def fragment_matmul(A, B, mma):
    (m, k), n = A.shape, B.shape[1]
    c = np.zeros((32, 4), np.float32)
    for _ in range((m // 16) * (k // 16) * (n // 8)):
        mma(load_fragment(A[:16, :16], A_PLACES), load_fragment(B[:16, :8], B_PLACES), c)
    return A.astype(np.float32) @ B.astype(np.float32)
