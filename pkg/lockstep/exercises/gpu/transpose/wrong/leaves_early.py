"""The learner thought: outside the matrix there is nothing to do."""

from numba import cuda, float32

MISCONCEPTION = "divergent-barrier"
TILE = 32
PADDED = TILE + 1


@cuda.jit
def transpose(source, target):
    tile = cuda.shared.array((TILE, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    if y >= source.shape[0] or x >= source.shape[1]:
        return
    if y < source.shape[0] and x < source.shape[1]:
        tile[ty, tx] = source[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + tx
    y = cuda.blockIdx.x * TILE + ty
    if y < target.shape[0] and x < target.shape[1]:
        target[y, x] = tile[tx, ty]
