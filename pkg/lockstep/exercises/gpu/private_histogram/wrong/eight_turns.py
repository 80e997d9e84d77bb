"""The learner thought: eight turns are enough for any number of values."""

from numba import cuda, int32

MISCONCEPTION = "wrong-values"

BINS = 64


@cuda.jit
def private_histogram(values, counts):
    mine = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    if t < BINS:
        mine[t] = 0
    cuda.syncthreads()
    for turn in range(8):
        i = cuda.grid(1) + turn * cuda.gridsize(1)
        if i < values.size:
            cuda.atomic.add(mine, values[i], 1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(counts, t, mine[t])
