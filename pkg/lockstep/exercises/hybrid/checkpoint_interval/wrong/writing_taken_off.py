"""The learner thought: the interval has the writing in it."""

MISCONCEPTION = "writing-taken-off"
TELL = "You take d off the interval. With the loss as it stands here, the best t is sqrt(2·d·M) alone."

import math


def checkpoint_interval(step, nbytes, bandwidth, gpu_hours, gpus, restart):
    d, M = nbytes / bandwidth, gpu_hours * 3600 / gpus

    def loss(n):
        return d / (n * step) + (n * step / 2 + restart) / M

    n = max(1, math.floor((math.sqrt(2 * d * M) - d) / step))
    n = min(n, n + 1, key=loss)
    return n, 1 / (1 + loss(n))
