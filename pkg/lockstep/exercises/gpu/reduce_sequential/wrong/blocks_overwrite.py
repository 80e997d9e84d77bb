"""The learner thought: out[0] is the block's result."""

from numba import cuda, float32

MISCONCEPTION = "lost-update"
THREADS = 128


@cuda.jit
def reduce_sequential(values, out):
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = values[i] if i < values.size else 0.0
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            partial[t] += partial[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[0] += partial[0]
