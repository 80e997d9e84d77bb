"""The learner thought: the matrix in the example held whole numbers."""

from numba import cuda, int32

MISCONCEPTION = "cut-to-whole"
PADDED = 33
TILE = 32


@cuda.jit
def transpose(source, target):
    tile = cuda.shared.array((TILE, PADDED), int32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    if y < source.shape[0] and x < source.shape[1]:
        tile[ty, tx] = source[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + tx
    y = cuda.blockIdx.x * TILE + ty
    if y < target.shape[0] and x < target.shape[1]:
        target[y, x] = tile[tx, ty]
