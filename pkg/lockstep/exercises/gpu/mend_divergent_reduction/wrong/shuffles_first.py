"""The learner thought: shuffles need no barrier, so no barrier can be missing."""

from numba import cuda, float32

MISCONCEPTION = "too-few-barriers"


@cuda.jit
def mend_divergent_reduction(values, out):
    partial = cuda.shared.array(4, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    v = values[i] if i < values.size else float32(0.0)
    o = 16
    while o > 0:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, o)
        o //= 2
    if t % 32 == 0:
        partial[t // 32] = v
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(out, 0, partial[0] + partial[1] + partial[2] + partial[3])
