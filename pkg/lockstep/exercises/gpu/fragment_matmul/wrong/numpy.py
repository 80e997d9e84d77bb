"""The learner thought: the product is what counts."""

import numpy as np

MISCONCEPTION = "no-tensor-core"


def fragment_matmul(A, B, mma):
    return A.astype(np.float32) @ B.astype(np.float32)
