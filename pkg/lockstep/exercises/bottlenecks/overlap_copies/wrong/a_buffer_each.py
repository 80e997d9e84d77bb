"""The learner thought: each batch has a buffer of its own."""

MISCONCEPTION = "crashed:RankRaised"


def overlap_copies(gpu, batches, buffers):
    arrived, read = [], []

    def copy(batch):
        before = [read[batch - buffers]] if batch >= buffers else []
        arrived.append(gpu.copy(batch, batch, after=before))

    for batch in range(min(buffers, batches)):
        copy(batch)
    for batch in range(batches):
        read.append(gpu.compute(batch, batch, after=[arrived[batch]]))
        if batch + buffers < batches:
            copy(batch + buffers)
