"""The learner thought: a piece for each thread is kind to the cache."""

from numba import cuda, float32, int32

MISCONCEPTION = "too-many-sectors"
TELL = "Each thread goes through a piece of its own, so the lanes of a warp read far apart."
BINS = 64


@cuda.jit
def private_histogram(values, counts):
    mine = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    if t < BINS:
        mine[t] = 0
    cuda.syncthreads()
    each = (values.size + cuda.gridsize(1) - 1) // cuda.gridsize(1)
    first = cuda.grid(1) * each
    for i in range(first, min(first + each, values.size)):
        cuda.atomic.add(mine, values[i], 1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(counts, t, mine[t])
