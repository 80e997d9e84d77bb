"""The learner thought: the copy stream is in order, so a copy comes late enough."""

MISCONCEPTION = "overwrites"


def overlap_copies(gpu, batches, buffers):
    arrived, read = [], []

    def copy(batch):
        before = []
        arrived.append(gpu.copy(batch, batch % buffers, after=before))

    for batch in range(min(buffers, batches)):
        copy(batch)
    for batch in range(batches):
        read.append(gpu.compute(batch, batch % buffers, after=[arrived[batch]]))
        if batch + buffers < batches:
            copy(batch + buffers)
