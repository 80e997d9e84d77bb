"""The learner thought: lane 0 can read what its warp needs."""

from numba import cuda, float32

MISCONCEPTION = "too-many-global-requests"


@cuda.jit
def reduce_shuffle(values, out):
    i = cuda.grid(1)
    if cuda.laneid == 0:
        total = float32(0)
        for k in range(i, min(i + 32, values.size)):
            total += values[k]
        cuda.atomic.add(out, 0, total)
