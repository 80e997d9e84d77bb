"""The learner thought: a tile of 32 x 32 is what a block of 32 x 32 needs."""

from numba import cuda, float32

MISCONCEPTION = "bank-conflicts"
TELL = "A column of your tile lies in one bank. Make its rows 33 words wide: each then begins one bank further on."
TILE = 32


@cuda.jit
def transpose(source, target):
    tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    if y < source.shape[0] and x < source.shape[1]:
        tile[ty, tx] = source[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + tx
    y = cuda.blockIdx.x * TILE + ty
    if y < target.shape[0] and x < target.shape[1]:
        target[y, x] = tile[tx, ty]
