"""The learner thought: the host waits for the copy, and the step runs meanwhile."""

MISCONCEPTION = "too-slow"


def overlap_copies(gpu, batches, buffers):
    read = []
    for batch in range(batches):
        if batch >= buffers:
            gpu.wait(read[batch - buffers])
        gpu.wait(gpu.copy(batch, batch % buffers))
        read.append(gpu.compute(batch, batch % buffers))
        if batch % 2:
            gpu.synchronize()
