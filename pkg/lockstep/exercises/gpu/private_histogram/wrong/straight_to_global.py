"""The learner thought: atomic additions are safe, so that is all it takes."""

from numba import cuda, float32, int32

MISCONCEPTION = "too-many-global-requests"
TELL = "Each value is an addition to global memory here."
BINS = 64


@cuda.jit
def private_histogram(values, counts):
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(counts, values[i], 1)
