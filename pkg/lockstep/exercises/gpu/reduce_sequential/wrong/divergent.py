"""The learner thought: the order of the additions makes no difference."""

from numba import cuda, float32

MISCONCEPTION = "divergent"
TELL = (
    "The threads at work are spread over all warps, so every warp issues every round. Let thread t add where t < "
    "step, and halve the step."
)
THREADS = 128


@cuda.jit
def reduce_sequential(values, out):
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = values[i] if i < values.size else 0.0
    cuda.syncthreads()
    step = 1
    while step < THREADS:
        if t % (2 * step) == 0:
            partial[t] += partial[t + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        cuda.atomic.add(out, 0, partial[0])
