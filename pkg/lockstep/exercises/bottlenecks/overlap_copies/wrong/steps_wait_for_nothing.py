"""The learner thought: the copy was launched before, so it is done before."""

MISCONCEPTION = "reads-too-early"


def overlap_copies(gpu, batches, buffers):
    arrived, read = [], []

    def copy(batch):
        before = [read[batch - buffers]] if batch >= buffers else []
        arrived.append(gpu.copy(batch, batch % buffers, after=before))

    for batch in range(min(buffers, batches)):
        copy(batch)
    for batch in range(batches):
        read.append(gpu.compute(batch, batch % buffers))
        if batch + buffers < batches:
            copy(batch + buffers)
