"""The learner thought: a transpose is one line."""

from numba import cuda

MISCONCEPTION = "uncoalesced"


@cuda.jit
def transpose(source, target):
    x, y = cuda.grid(2)
    if y < source.shape[0] and x < source.shape[1]:
        target[x, y] = source[y, x]
