"""The learner thought: all threads take part in each step."""

from numba import cuda, float32, int32

MISCONCEPTION = "constant-factor"
TELL = "All is counted twice, or handed over twice. A block has 128 threads, and 64 counters: who hands one over?"
BINS = 64


@cuda.jit
def private_histogram(values, counts):
    mine = cuda.shared.array(BINS, int32)
    t = cuda.threadIdx.x
    mine[t % BINS] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, values[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, t % BINS, mine[t % BINS])
