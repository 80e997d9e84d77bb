"""A matrix product, naive and tiled.

``C = A·B`` with A (M, K), B (K, N), C (M, N), float32. A thread computes one element of C. In the naive kernel each of
its K steps reads two numbers from global memory. In the tiled one, a block's TILE² threads first copy a TILE x TILE
piece of A and of B to shared memory, two numbers a thread, and then read each of them TILE times from there: 1/TILE of
the global traffic.
"""

from __future__ import annotations

from typing import Any

from numba import cuda, float32

Array = Any
TILE = 16  # a block has TILE x TILE threads


def naive_matmul(A: Array, B: Array, C: Array) -> None:
    """Each thread computes one element of C, straight from global memory."""
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        total = float32(0.0)
        for k in range(A.shape[1]):
            total += A[i, k] * B[k, j]
        C[i, j] = total


def tiled_matmul(A: Array, B: Array, C: Array) -> None:
    """Any M, N, K: elements beyond the edge count as zero, and no thread leaves before the last barrier."""
    a = cuda.shared.array((TILE, TILE), float32)
    b = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = float32(0.0)
    for start in range(0, A.shape[1], TILE):
        a[ty, tx] = A[i, start + tx] if i < A.shape[0] and start + tx < A.shape[1] else 0.0
        b[ty, tx] = B[start + ty, j] if start + ty < B.shape[0] and j < B.shape[1] else 0.0
        cuda.syncthreads()
        for k in range(TILE):
            total += a[ty, k] * b[k, tx]
        cuda.syncthreads()  # no thread overwrites what another still reads
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = total
