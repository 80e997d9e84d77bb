"""The learner thought: my warp is done, so I can hand over."""

from numba import cuda, float32, int32

MISCONCEPTION = "race"
TELL = "Other warps may still be counting when this one hands its counters over. All have to wait before that."
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
    if t < BINS:
        cuda.atomic.add(counts, t, mine[t])
