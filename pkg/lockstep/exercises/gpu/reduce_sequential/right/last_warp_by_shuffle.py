"""Shared memory down to 32 numbers, the rest by shuffles of one warp."""

from numba import cuda, float32

THREADS = 128


@cuda.jit
def reduce_sequential(values, out):
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = values[i] if i < values.size else 0.0
    cuda.syncthreads()
    if t < 64:
        partial[t] += partial[t + 64]
    cuda.syncthreads()
    if t < 32:
        value = partial[t] + partial[t + 32]
        offset = 16
        while offset > 0:
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
            offset //= 2
        if t == 0:
            cuda.atomic.add(out, 0, value)
