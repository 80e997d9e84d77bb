"""The learner thought: a buffer is free when the copy into it is done."""

MISCONCEPTION = "overwrites"


def overlap_copies(gpu, batches, buffers):
    arrived, read = [], []

    def copy(batch):
        before = [arrived[batch - buffers]] if batch >= buffers else []
        arrived.append(gpu.copy(batch, batch % buffers, after=before))

    for batch in range(min(buffers, batches)):
        copy(batch)
    for batch in range(batches):
        read.append(gpu.compute(batch, batch % buffers, after=[arrived[batch]]))
        if batch + buffers < batches:
            copy(batch + buffers)
