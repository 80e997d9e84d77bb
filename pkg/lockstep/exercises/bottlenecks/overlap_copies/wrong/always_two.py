"""The learner thought: double buffering has two buffers."""

MISCONCEPTION = "too-slow"


def overlap_copies(gpu, batches, buffers):
    arrived, read, buffers = [], [], min(buffers, 2)

    def copy(batch):
        before = [read[batch - buffers]] if batch >= buffers else []
        arrived.append(gpu.copy(batch, batch % buffers, after=before))

    for batch in range(min(buffers, batches)):
        copy(batch)
    for batch in range(batches):
        read.append(gpu.compute(batch, batch % buffers, after=[arrived[batch]]))
        if batch + buffers < batches:
            copy(batch + buffers)
