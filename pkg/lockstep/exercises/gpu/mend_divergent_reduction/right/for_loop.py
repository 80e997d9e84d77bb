"""Seven rounds counted by a for loop."""

from numba import cuda, float32

THREADS = 128


@cuda.jit
def mend_divergent_reduction(values, out):
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = values[i] if i < values.size else 0.0
    cuda.syncthreads()
    for r in range(7):
        step = 1 << r
        if t % (2 * step) == 0:
            partial[t] += partial[t + step]
        cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(out, 0, partial[0])
