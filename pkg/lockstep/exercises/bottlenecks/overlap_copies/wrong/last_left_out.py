"""The learner thought: copy the next batch and compute this one; the loop ends one too early."""

MISCONCEPTION = "wrong-batches"
ALSO = ["crashed:RankRaised"]


def overlap_copies(gpu, batches, buffers):
    arrived, read = [], []

    def copy(batch):
        before = [read[batch - buffers]] if batch >= buffers else []
        arrived.append(gpu.copy(batch, batch % buffers, after=before))

    for batch in range(min(buffers, batches)):
        copy(batch)
    for batch in range(batches - 1):
        read.append(gpu.compute(batch, batch % buffers, after=[arrived[batch]]))
        if batch + buffers < batches:
            copy(batch + buffers)
