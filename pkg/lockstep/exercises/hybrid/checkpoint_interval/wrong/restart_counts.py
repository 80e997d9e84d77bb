"""The learner thought: a restart is to be paid, so it is better to save more seldom."""

MISCONCEPTION = "restart-counts"
TELL = "You put the restart into the interval. Each interruption costs R, however often you save: it is in the goodput, not in t."

import math


def checkpoint_interval(step, nbytes, bandwidth, gpu_hours, gpus, restart):
    d, M = nbytes / bandwidth, gpu_hours * 3600 / gpus

    def loss(n):
        return d / (n * step) + (n * step / 2 + restart) / M

    n = max(1, math.floor(math.sqrt(2 * (d + restart) * M) / step))
    n = min(n, n + 1, key=loss)
    return n, 1 / (1 + loss(n))
