"""The learner thought: what is not lost is good."""

MISCONCEPTION = "one-minus-loss"
TELL = "Your goodput is 1 − loss. The loss is counted for each second of training, not of the whole: of 1 + loss seconds 1 is good."

import math


def checkpoint_interval(step, nbytes, bandwidth, gpu_hours, gpus, restart):
    d, M = nbytes / bandwidth, gpu_hours * 3600 / gpus

    def loss(n):
        return d / (n * step) + (n * step / 2 + restart) / M

    n = max(1, math.floor(math.sqrt(2 * d * M) / step))
    n = min(n, n + 1, key=loss)
    return n, 1 - loss(n)
