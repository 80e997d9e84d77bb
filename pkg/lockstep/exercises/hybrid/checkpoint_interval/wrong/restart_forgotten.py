"""The learner thought: goodput is what checkpoints and lost work leave."""

MISCONCEPTION = "restart-forgotten"
TELL = "The restart is missing in your goodput: each interruption costs R, too."

import math


def checkpoint_interval(step, nbytes, bandwidth, gpu_hours, gpus, restart):
    d, M = nbytes / bandwidth, gpu_hours * 3600 / gpus

    def loss(n):
        return d / (n * step) + n * step / 2 / M

    n = max(1, math.floor(math.sqrt(2 * d * M) / step))
    n = min(n, n + 1, key=loss)
    return n, 1 / (1 + loss(n))
