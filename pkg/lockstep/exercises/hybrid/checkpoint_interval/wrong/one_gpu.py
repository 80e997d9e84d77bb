"""The learner thought: the job runs as long as a GPU does."""

MISCONCEPTION = "one-gpu"
TELL = "Your M is that of one GPU. Any of the n GPUs interrupts the whole job: divide by n."

import math


def checkpoint_interval(step, nbytes, bandwidth, gpu_hours, gpus, restart):
    d, M = nbytes / bandwidth, gpu_hours * 3600

    def loss(n):
        return d / (n * step) + (n * step / 2 + restart) / M

    n = max(1, math.floor(math.sqrt(2 * d * M) / step))
    n = min(n, n + 1, key=loss)
    return n, 1 / (1 + loss(n))
