"""The learner thought: a new array is full of zeros, as in NumPy."""

from numba import cuda, float32, int32

MISCONCEPTION = "uninitialised"
TELL = "A shared array holds anything at the start. Let 64 threads write a 0, and let all wait for them."
BINS = 64


@cuda.jit
def private_histogram(values, counts):
    mine = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, values[i], 1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(counts, t, mine[t])
