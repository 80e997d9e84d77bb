"""The learner thought: first launch the next copy, and then the step."""

MISCONCEPTION = "another-batch"


def overlap_copies(gpu, batches, buffers):
    arrived, read = {}, {}
    for batch in range(min(buffers, batches)):
        arrived[batch] = gpu.copy(batch, batch % buffers)
    for batch in range(batches):
        ahead = batch + buffers
        if ahead < batches:
            arrived[ahead] = gpu.copy(ahead, ahead % buffers, after=[read[batch]] if batch in read else [])
        read[batch] = gpu.compute(batch, batch % buffers, after=[arrived[batch]])
