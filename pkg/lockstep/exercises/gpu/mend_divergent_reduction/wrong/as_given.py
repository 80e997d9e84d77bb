"""The learner thought: it gave the right sum with one block of 32, so it is right."""

from numba import cuda, float32

MISCONCEPTION = "race"
THREADS = 128


@cuda.jit
def mend_divergent_reduction(values, out):
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = values[i] if i < values.size else 0.0
    step = 1
    while step < THREADS:
        if t % (2 * step) == 0:
            partial[t] += partial[t + step]
        step *= 2
    if t == 0:
        out[0] += partial[0]
