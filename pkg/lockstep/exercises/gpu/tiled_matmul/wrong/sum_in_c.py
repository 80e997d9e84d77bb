"""The learner thought: C can hold the sum."""

from numba import cuda, float32

MISCONCEPTION = "sum-in-global-memory"
TELL = "The sum is read from C and written to it in every step. Keep it in a variable, and write C once, at the end."


@cuda.jit
def tiled_matmul(A, B, C):
    a = cuda.shared.array((16, 16), float32)
    b = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = 0
    for start in range(0, A.shape[1], 16):
        a[ty, tx] = A[i, start + tx] if i < A.shape[0] and start + tx < A.shape[1] else 0.0
        b[ty, tx] = B[start + ty, j] if start + ty < B.shape[0] and j < B.shape[1] else 0.0
        cuda.syncthreads()
        total = float32(0.0)
        for k in range(16):
            total += a[ty, k] * b[k, tx]
        if i < C.shape[0] and j < C.shape[1]:
            C[i, j] += total
        cuda.syncthreads()
