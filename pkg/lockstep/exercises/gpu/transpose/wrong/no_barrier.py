"""The learner thought: each thread reads what it has written."""

from numba import cuda, float32

MISCONCEPTION = "race"
TILE = 32
PADDED = TILE + 1


@cuda.jit
def transpose(source, target):
    tile = cuda.shared.array((TILE, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    if y < source.shape[0] and x < source.shape[1]:
        tile[ty, tx] = source[y, x]
    x = cuda.blockIdx.y * TILE + tx
    y = cuda.blockIdx.x * TILE + ty
    if y < target.shape[0] and x < target.shape[1]:
        target[y, x] = tile[tx, ty]
