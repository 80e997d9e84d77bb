"""The learner thought: the whole number next to the best t is the best."""

MISCONCEPTION = "nearest-whole-number"
TELL = "You round to the nearest whole number. The loss rises faster below the best t than above: between 1 and 2 the change is at 1.41, not at 1.5. Compare both losses."

import math


def checkpoint_interval(step, nbytes, bandwidth, gpu_hours, gpus, restart):
    d, M = nbytes / bandwidth, gpu_hours * 3600 / gpus

    def loss(n):
        return d / (n * step) + (n * step / 2 + restart) / M

    n = max(1, round(math.sqrt(2 * d * M) / step))
    return n, 1 / (1 + loss(n))
