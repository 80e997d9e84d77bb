"""The learner thought: whole steps, so the rest is cut off."""

MISCONCEPTION = "rounded-down"
TELL = "You cut off the rest. The next whole number may lose less: compare both."

import math


def checkpoint_interval(step, nbytes, bandwidth, gpu_hours, gpus, restart):
    d, M = nbytes / bandwidth, gpu_hours * 3600 / gpus

    def loss(n):
        return d / (n * step) + (n * step / 2 + restart) / M

    n = max(1, math.floor(math.sqrt(2 * d * M) / step))
    return n, 1 / (1 + loss(n))
