"""The learner thought: gpu_hours / gpus is M."""

MISCONCEPTION = "hours-for-seconds"
TELL = "Your M is in hours, and d in seconds."

import math


def checkpoint_interval(step, nbytes, bandwidth, gpu_hours, gpus, restart):
    d, M = nbytes / bandwidth, gpu_hours / gpus

    def loss(n):
        return d / (n * step) + (n * step / 2 + restart) / M

    n = max(1, math.floor(math.sqrt(2 * d * M) / step))
    n = min(n, n + 1, key=loss)
    return n, 1 / (1 + loss(n))
