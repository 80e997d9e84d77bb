"""The learner thought: one thread of a block can add up the block's part from global memory."""

from numba import cuda, float32

MISCONCEPTION = "too-many-global-requests"
THREADS = 128


@cuda.jit
def reduce_sequential(values, out):
    t = cuda.threadIdx.x
    if t == 0:
        total = float32(0)
        for i in range(cuda.grid(1), min(values.size, cuda.grid(1) + THREADS)):
            total += values[i]
        cuda.atomic.add(out, 0, total)
