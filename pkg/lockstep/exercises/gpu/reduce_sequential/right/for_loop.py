"""Rounds from a for loop; loads guarded with an if."""

from numba import cuda, float32

THREADS = 128


@cuda.jit
def reduce_sequential(values, out):
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    if i < values.size:
        partial[t] = values[i]
    else:
        partial[t] = 0
    for r in range(7):
        cuda.syncthreads()
        step = 64 >> r
        if t < step:
            partial[t] = partial[t] + partial[t + step]
    if t == 0:
        cuda.atomic.add(out, 0, partial[0])
