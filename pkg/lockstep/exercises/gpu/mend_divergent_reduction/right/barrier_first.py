"""The barrier at the beginning of each round, and the branch says who is inside the tree."""

from numba import cuda, float32

THREADS = 128


@cuda.jit
def mend_divergent_reduction(values, out):
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = values[i] if i < values.size else 0.0

    step = 1
    while step < cuda.blockDim.x:
        cuda.syncthreads()
        if t % (2 * step) == 0 and t + step < THREADS:
            partial[t] = partial[t] + partial[t + step]
        step *= 2
    if t == 0:
        cuda.atomic.add(out, 0, partial[0])
