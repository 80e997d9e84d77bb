"""The learner thought: the best is floor(t/step)."""

MISCONCEPTION = "crashed:RankRaised"
TELL = "Where a step is longer than the best interval, save after every step: the least number is 1."
RAISES = "^ZeroDivisionError"

import math


def checkpoint_interval(step, nbytes, bandwidth, gpu_hours, gpus, restart):
    d, M = nbytes / bandwidth, gpu_hours * 3600 / gpus

    def loss(n):
        return d / (n * step) + (n * step / 2 + restart) / M

    n = math.floor(math.sqrt(2 * d * M) / step)
    n = min(n, n + 1, key=loss)
    return n, 1 / (1 + loss(n))
