"""The learner thought: half of the threads have nothing to add in round 1, so let each load two elements."""

from numba import cuda, float32

MISCONCEPTION = "not-its-own"
THREADS = 128


@cuda.jit
def reduce_sequential(values, out):
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * (2 * THREADS) + t
    v = float32(0)
    if i < values.size:
        v += values[i]
    if i + THREADS < values.size:
        v += values[i + THREADS]
    partial[t] = v
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            partial[t] += partial[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(out, 0, partial[0])
