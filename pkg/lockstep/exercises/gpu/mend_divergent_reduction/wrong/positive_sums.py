"""The learner thought: a sum that is not above 0 needs no addition."""

from numba import cuda, float32

MISCONCEPTION = "wrong-values"

THREADS = 128


@cuda.jit
def mend_divergent_reduction(values, out):
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = values[i] if i < values.size else 0.0

    cuda.syncthreads()
    step = 1
    while step < THREADS:
        if t % (2 * step) == 0:
            partial[t] += partial[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0 and partial[0] > 0:
        cuda.atomic.add(out, 0, partial[0])
