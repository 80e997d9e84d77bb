"""The learner thought: a thread computes its element from global memory."""

from numba import cuda, float32

MISCONCEPTION = "no-reuse"
TELL = (
    "Every thread reads its row of A and its column of B from global memory. Bring tiles into shared memory, and "
    "read each element 16 times from there."
)


@cuda.jit
def tiled_matmul(A, B, C):
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        total = float32(0.0)
        for k in range(A.shape[1]):
            total += A[i, k] * B[k, j]
        C[i, j] = total
