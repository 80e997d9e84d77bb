"""The learner thought: there is a thread for each value."""

from numba import cuda, float32, int32

MISCONCEPTION = "wrong-values"
TELL = (
    "Each thread counts one value. With fewer threads than values, most of them are left out: loop as wide as the grid."
)
BINS = 64


@cuda.jit
def private_histogram(values, counts):
    mine = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if t < BINS:
        mine[t] = 0
    cuda.syncthreads()
    if i < values.size:
        cuda.atomic.add(mine, values[i], 1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(counts, t, mine[t])
