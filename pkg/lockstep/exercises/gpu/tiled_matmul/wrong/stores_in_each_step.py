"""The learner thought: what is stored too early is overwritten later."""

from numba import cuda, float32

MISCONCEPTION = "too-many-global-bytes"

TILE16 = 16


@cuda.jit
def tiled_matmul(A, B, C):
    a = cuda.shared.array((TILE16, TILE16), float32)
    b = cuda.shared.array((TILE16, TILE16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = float32(0.0)
    for start in range(0, A.shape[1], TILE16):
        a[ty, tx] = A[i, start + tx] if i < A.shape[0] and start + tx < A.shape[1] else 0.0
        b[ty, tx] = B[start + ty, j] if start + ty < B.shape[0] and j < B.shape[1] else 0.0
        cuda.syncthreads()
        for k in range(TILE16):
            total += a[ty, k] * b[k, tx]
        if i < C.shape[0] and j < C.shape[1]:
            C[i, j] = total
        cuda.syncthreads()
