"""The learner mended it, and let each thread load two elements: half of the threads then need not add in round 1."""

from numba import cuda, float32

MISCONCEPTION = "not-its-own"
THREADS = 128


@cuda.jit
def mend_divergent_reduction(values, out):
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 2 * THREADS + t
    partial[t] = (values[i] if i < values.size else 0.0) + (values[i + THREADS] if i + THREADS < values.size else 0.0)
    cuda.syncthreads()
    step = 1
    while step < THREADS:
        if t % (2 * step) == 0:
            partial[t] += partial[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        cuda.atomic.add(out, 0, partial[0])
