"""The learner thought: the array is the block's own, so nobody disturbs."""

from numba import cuda, float32, int32

MISCONCEPTION = "race"
TELL = (
    "The counters belong to the block, and its 128 threads add at the same time. Shared memory needs "
    "cuda.atomic.add, too."
)
BINS = 64


@cuda.jit
def private_histogram(values, counts):
    mine = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    if t < BINS:
        mine[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        mine[values[i]] += 1
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(counts, t, mine[t])
