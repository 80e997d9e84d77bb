"""A set of counters for each warp, so that fewer threads meet at one; the block adds them up before it hands over."""

from numba import cuda, int32

BINS = 64


@cuda.jit
def private_histogram(values, counts):
    mine = cuda.shared.array((4, BINS), int32)
    t = cuda.threadIdx.x
    for k in range(t, 4 * BINS, cuda.blockDim.x):
        mine[k // BINS, k % BINS] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, (t // 32, values[i]), 1)
    cuda.syncthreads()
    if t < BINS:
        cuda.atomic.add(counts, t, mine[0, t] + mine[1, t] + mine[2, t] + mine[3, t])
