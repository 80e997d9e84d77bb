"""A matrix product by tensor cores: 16 x 16 pieces of A, 16 x 8 pieces of B, one instruction for each pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from lockstep.simt import tensor_core
from lockstep.simt.tensor_core import A_PLACES, B_PLACES, C_PLACES, load_fragment, store_fragment

M, N, K = tensor_core.M, tensor_core.N, tensor_core.K


def fragment_matmul(A: Any, B: Any, mma: Any = tensor_core.mma_m16n8k16) -> Any:
    """C = A·B in float32; A (m, k) and B (k, n) in float16; m and k multiples of 16, n of 8.

    The accumulator stays in the lanes' registers while k runs; only then is it stored.
    """
    (m, k), n = A.shape, B.shape[1]
    C = np.empty((m, n), np.float32)
    for i in range(0, m, M):
        for j in range(0, n, N):
            c = np.zeros((32, 4), np.float32)
            for step in range(0, k, K):
                a = load_fragment(A[i : i + M, step : step + K], A_PLACES)
                b = load_fragment(B[step : step + K, j : j + N], B_PLACES)
                c = mma(a, b, c)
            C[i : i + M, j : j + N] = store_fragment(c, C_PLACES)
    return C
