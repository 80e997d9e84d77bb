"""The host itself waits for a buffer to be free, just before it launches the copy."""

from collections import deque


def overlap_copies(gpu, batches, buffers):
    under_way = deque()
    for batch in range(batches):
        if len(under_way) == buffers:
            gpu.wait(under_way.popleft())
        arrived = gpu.copy(batch, batch % buffers)
        under_way.append(gpu.compute(batch, batch % buffers, after=[arrived]))
    gpu.synchronize()
