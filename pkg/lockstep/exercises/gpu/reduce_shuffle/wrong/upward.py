"""The learner thought: up or down, it is a tree all the same."""

from numba import cuda, float32

MISCONCEPTION = "wrong-lane"
TELL = "Lane 0 has added only its own value, again and again. Shuffled up, the sum gathers in lane 31: shuffle down."


@cuda.jit
def reduce_shuffle(values, out):
    i = cuda.grid(1)
    value = values[i] if i < values.size else float32(0.0)
    offset = 16
    while offset > 0:
        value += cuda.shfl_up_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)
