"""The learner thought: both tiles are read along their rows."""

from numba import cuda, float32

MISCONCEPTION = "multiplies-by-the-transpose"
TELL = "This is A times the transposed tiles of B. A thread runs down a column of B's tile: b[k, tx]."
TILE = 16


@cuda.jit
def tiled_matmul(A, B, C):
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
            total += a[ty, k] * b[tx, k]
        cuda.syncthreads()
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = total
