"""The warps' sums meet in shared memory, and one warp adds them up: one atomic addition a block."""

from numba import cuda, float32


@cuda.jit
def reduce_shuffle(values, out):
    sums = cuda.shared.array(4, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    value = values[i] if i < values.size else float32(0.0)
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if t % 32 == 0:
        sums[t // 32] = value
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(out, 0, sums[0] + sums[1] + sums[2] + sums[3])
