"""The learner thought: one thread of each block brings the result out, as in the sum."""

from numba import cuda, float32, int32

MISCONCEPTION = "too-many-global-requests"
TELL = "One thread hands over all 64 counters, one after the other."
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
    if t == 0:
        for b in range(BINS):
            cuda.atomic.add(counts, b, mine[b])
