"""The learner thought: each block transposes its own tile."""

from numba import cuda, float32

MISCONCEPTION = "blocks-not-exchanged"
TELL = (
    "Each tile is turned in its place. The tile itself belongs elsewhere: block (i, j) of the source is block (j, "
    "i) of the target."
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
    x = cuda.blockIdx.x * TILE + tx
    y = cuda.blockIdx.y * TILE + ty
    if y < target.shape[0] and x < target.shape[1]:
        target[y, x] = tile[tx, ty]
