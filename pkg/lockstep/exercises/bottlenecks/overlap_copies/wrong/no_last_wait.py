"""The learner thought: the first step of each buffer needs to wait, later ones follow."""

MISCONCEPTION = "reads-too-early"


def overlap_copies(gpu, batches, buffers):
    arrived, read = [], []

    def copy(batch):
        before = [read[batch - buffers]] if batch >= buffers else []
        arrived.append(gpu.copy(batch, batch % buffers, after=before))

    for batch in range(min(buffers, batches)):
        copy(batch)
    for batch in range(batches):
        read.append(gpu.compute(batch, batch % buffers, after=[arrived[batch]] if batch < buffers else []))
        if batch + buffers < batches:
            copy(batch + buffers)
