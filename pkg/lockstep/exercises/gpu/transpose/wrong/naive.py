"""The learner thought: a transpose is one line."""

from numba import cuda

MISCONCEPTION = "column-writes"
TELL = (
    "Your warps read rows, but their lanes write down a column of target: every lane needs a sector of its own. "
    "Turn in shared memory, and write rows."
)


@cuda.jit
def transpose(source, target):
    x, y = cuda.grid(2)
    if y < source.shape[0] and x < source.shape[1]:
        target[x, y] = source[y, x]
