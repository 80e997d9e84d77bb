"""The learner thought: it makes no difference which thread brings which element."""

from numba import cuda, float32

MISCONCEPTION = "too-many-sectors"
TILE16 = 16


@cuda.jit
def tiled_matmul(A, B, C):
    a = cuda.shared.array((TILE16, TILE16), float32)
    b = cuda.shared.array((TILE16, TILE16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = float32(0.0)
    for start in range(0, A.shape[1], TILE16):
        r0 = i - ty
        c0 = j - tx
        a[tx, ty] = A[r0 + tx, start + ty] if r0 + tx < A.shape[0] and start + ty < A.shape[1] else 0.0
        b[tx, ty] = B[start + tx, c0 + ty] if start + tx < B.shape[0] and c0 + ty < B.shape[1] else 0.0
        cuda.syncthreads()
        for k in range(TILE16):
            total += a[ty, k] * b[k, tx]
        cuda.syncthreads()
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = total
