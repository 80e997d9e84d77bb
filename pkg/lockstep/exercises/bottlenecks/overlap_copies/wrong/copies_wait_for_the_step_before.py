"""The learner thought: a copy waits for the step before it."""

MISCONCEPTION = "one-after-another"
ALSO = ["too-slow"]


def overlap_copies(gpu, batches, buffers):
    step = None
    for batch in range(batches):
        before = [step] if step else []
        arrived = gpu.copy(batch, batch % buffers, after=before)
        step = gpu.compute(batch, batch % buffers, after=[arrived])
