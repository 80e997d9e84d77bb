"""The learner thought: the same guard does for both matrices."""

from numba import cuda, float32

MISCONCEPTION = "guard-of-the-source"
TELL = (
    "What lies in target beyond the shape of source is missing: target has the shape (columns, rows), so its "
    "guard is another one."
)
TILE = 32
PADDED = TILE + 1


@cuda.jit
def transpose(source, target):
    tile = cuda.shared.array((TILE, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    if y < source.shape[0] and x < source.shape[1]:
        tile[ty, tx] = source[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + tx
    y = cuda.blockIdx.x * TILE + ty
    if y < source.shape[0] and x < source.shape[1]:
        target[y, x] = tile[tx, ty]
