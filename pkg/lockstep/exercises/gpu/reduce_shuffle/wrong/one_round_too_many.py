"""The learner thought: 32 lanes, so begin with 32."""

from numba import cuda, float32

MISCONCEPTION = "doubled"
TELL = (
    "Each number counts twice, as when the rounds begin with 32: 32 lanes further on there is nobody, and a lane "
    "gets its own value back. Begin with 16."
)


@cuda.jit
def reduce_shuffle(values, out):
    i = cuda.grid(1)
    value = values[i] if i < values.size else float32(0.0)
    offset = 32
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, value)
