"""The learner thought: multiplying the thread's number keeps the first threads busy, so this is the fast one."""

from numba import cuda, float32

MISCONCEPTION = "bank-conflicts"
TELL = (
    "The threads at work stand side by side, but what they add lies 2, 4, 8 … words apart, so several lanes meet "
    "in one bank. Let neighbouring threads add neighbouring words: partial[t] += partial[t + step]."
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
        j = 2 * step * t
        if j < THREADS:
            partial[j] += partial[j + step]
        cuda.syncthreads()
        step *= 2
    if t == 0:
        cuda.atomic.add(out, 0, partial[0])
