"""The learner thought: my block has counted, so it writes the result."""

from numba import cuda, float32, int32

MISCONCEPTION = "lost-update"
TELL = "Each block has counted a part of the values only. What it hands over must be added to what is there."
BINS = 64


@cuda.jit
def private_histogram(values, counts):
    mine = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    if t < BINS:
        mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, values[i], 1)
    cuda.syncthreads()
    if t < BINS:
        counts[t] = mine[t]
