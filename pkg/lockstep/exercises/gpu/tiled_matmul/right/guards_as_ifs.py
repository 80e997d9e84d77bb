"""Guards as statements, the tiles padded, the last product cut short."""

from numba import cuda, float32


@cuda.jit
def tiled_matmul(A, B, C):
    a = cuda.shared.array((16, 17), float32)
    b = cuda.shared.array((16, 17), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * 16 + ty
    column = cuda.blockIdx.x * 16 + tx
    total = float32(0)
    for tile in range((A.shape[1] + 15) // 16):
        a[ty, tx] = 0
        b[ty, tx] = 0
        if row < A.shape[0] and tile * 16 + tx < A.shape[1]:
            a[ty, tx] = A[row, tile * 16 + tx]
        if tile * 16 + ty < B.shape[0] and column < B.shape[1]:
            b[ty, tx] = B[tile * 16 + ty, column]
        cuda.syncthreads()
        for k in range(min(16, A.shape[1] - tile * 16)):
            total = total + a[ty, k] * b[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = total
