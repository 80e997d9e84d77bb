"""The learner thought: one thread fills the tiles, and the others wait at the barrier."""

from numba import cuda, float32

MISCONCEPTION = "too-many-global-requests"
TILE16 = 16


@cuda.jit
def tiled_matmul(A, B, C):
    a = cuda.shared.array((TILE16, TILE16), float32)
    b = cuda.shared.array((TILE16, TILE16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = float32(0.0)
    for start in range(0, A.shape[1], TILE16):
        if tx == 0 and ty == 0:
            for r in range(TILE16):
                for c in range(TILE16):
                    a[r, c] = A[i + r, start + c] if i + r < A.shape[0] and start + c < A.shape[1] else 0.0
                    b[r, c] = B[start + r, j + c] if start + r < B.shape[0] and j + c < B.shape[1] else 0.0
        cuda.syncthreads()
        for k in range(TILE16):
            total += a[ty, k] * b[k, tx]
        cuda.syncthreads()
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = total
