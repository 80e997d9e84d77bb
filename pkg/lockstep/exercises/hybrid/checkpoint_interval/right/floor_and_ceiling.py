"""Both whole numbers beside the best t."""

import math


def checkpoint_interval(step, nbytes, bandwidth, gpu_hours, gpus, restart):
    write = nbytes / bandwidth
    mtbf = gpu_hours * 3600 / gpus
    t = math.sqrt(2 * write * mtbf)
    candidates = {max(1, int(t / step)), max(1, math.ceil(t / step))}
    rows = [(write / (n * step) + (n * step / 2 + restart) / mtbf, n) for n in candidates]
    loss, n = min(rows)
    return n, 1 / (1 + loss)
