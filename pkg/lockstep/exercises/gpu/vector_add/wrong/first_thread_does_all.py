"""The learner thought: a kernel is a function with a loop, and somebody has to run it."""

from numba import cuda

MISCONCEPTION = "one-thread"
TELL = (
    "Each request is for one element: one lane of 32 is at work. Give every thread one element, instead of one "
    "thread a loop."
)


@cuda.jit
def vector_add(a, b, out):
    if cuda.grid(1) == 0:
        for i in range(out.size):
            out[i] = a[i] + b[i]
