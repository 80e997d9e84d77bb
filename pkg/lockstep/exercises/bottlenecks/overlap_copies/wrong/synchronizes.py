"""The learner thought: synchronize, so that nothing can go wrong."""

MISCONCEPTION = "one-after-another"


def overlap_copies(gpu, batches, buffers):
    for batch in range(batches):
        gpu.copy(batch, batch % buffers)
        gpu.synchronize()
        gpu.compute(batch, batch % buffers)
        gpu.synchronize()
