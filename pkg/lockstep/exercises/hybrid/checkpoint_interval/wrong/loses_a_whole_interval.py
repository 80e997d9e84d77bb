"""The learner thought: a failure loses all work since the last checkpoint."""

MISCONCEPTION = "loses-a-whole-interval"
TELL = "You count a whole interval for each failure. A failure comes in the middle on average: t/2."

import math


def checkpoint_interval(step, nbytes, bandwidth, gpu_hours, gpus, restart):
    d, M = nbytes / bandwidth, gpu_hours * 3600 / gpus

    def loss(n):
        return d / (n * step) + (n * step + restart) / M

    n = max(1, math.floor(math.sqrt(d * M) / step))
    n = min(n, n + 1, key=loss)
    return n, 1 / (1 + loss(n))
