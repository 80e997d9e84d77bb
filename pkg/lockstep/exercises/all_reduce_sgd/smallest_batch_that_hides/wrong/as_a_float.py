"""The learner thought: numpy rounds up as well."""

import numpy as np

MISCONCEPTION = "not-an-integer"


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    return float(max(1.0, np.ceil(seconds * rate / flops)))
