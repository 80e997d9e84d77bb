"""The learner thought: the interval is sqrt(d·M)."""

MISCONCEPTION = "without-the-two"
TELL = "Your interval is sqrt(d·M). A failure loses half an interval on average, so the loss has t/2 in it, and the best t is sqrt(2·d·M)."

import math


def checkpoint_interval(step, nbytes, bandwidth, gpu_hours, gpus, restart):
    d, M = nbytes / bandwidth, gpu_hours * 3600 / gpus

    def loss(n):
        return d / (n * step) + (n * step / 2 + restart) / M

    n = max(1, math.floor(math.sqrt(d * M) / step))
    n = min(n, n + 1, key=loss)
    return n, 1 / (1 + loss(n))
