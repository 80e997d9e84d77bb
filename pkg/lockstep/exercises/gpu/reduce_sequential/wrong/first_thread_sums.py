"""The learner thought: the block's first thread adds up what the others have loaded."""

from numba import cuda, float32

MISCONCEPTION = "one-thread"
TELL = "One thread adds up what the others have loaded, one number after the other. A tree takes seven rounds."
VARIANTS = ["first_thread_adds"]
THREADS = 128


@cuda.jit
def reduce_sequential(values, out):
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    partial[t] = values[i] if i < values.size else 0.0
    cuda.syncthreads()
    if t == 0:
        total = float32(0)
        for j in range(THREADS):
            total += partial[j]
        cuda.atomic.add(out, 0, total)
