"""By bisection between 0, which is too few, and a number that is enough."""

import numpy as np


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    peers = np.float64(ranks - 1)
    seconds = 2 * peers * alpha + 2 * peers * nbytes * beta / ranks
    low, high = 0, 1
    while high * flops / rate < seconds:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle * flops / rate < seconds else (low, middle)
    return np.int64(high)
