"""The learner thought: the goodput is that of the best interval."""

MISCONCEPTION = "goodput-at-the-best-t"
TELL = "Your goodput is that of the best t. The job saves after whole steps: put steps·step into the loss."

import math


def checkpoint_interval(step, nbytes, bandwidth, gpu_hours, gpus, restart):
    d, M = nbytes / bandwidth, gpu_hours * 3600 / gpus

    def loss(n):
        return d / (n * step) + (n * step / 2 + restart) / M

    n = max(1, math.floor(math.sqrt(2 * d * M) / step))
    n = min(n, n + 1, key=loss)
    return n, 1 / (1 + loss(math.sqrt(2 * d * M) / step))
