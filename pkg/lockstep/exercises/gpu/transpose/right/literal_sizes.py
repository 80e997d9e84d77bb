"""Numbers instead of names, and the edges by early values."""

from numba import cuda, float32


@cuda.jit
def transpose(source, target):
    tile = cuda.shared.array(shape=(32, 33), dtype=float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    column = cuda.blockIdx.x * 32 + tx
    row = cuda.blockIdx.y * 32 + ty
    inside = row < source.shape[0] and column < source.shape[1]
    tile[ty, tx] = source[row, column] if inside else 0.0
    cuda.syncthreads()
    column = cuda.blockIdx.y * 32 + tx
    row = cuda.blockIdx.x * 32 + ty
    if row < target.shape[0] and column < target.shape[1]:
        target[row, column] = tile[tx, ty]
