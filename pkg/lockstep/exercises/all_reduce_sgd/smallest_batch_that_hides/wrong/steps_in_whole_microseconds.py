"""The learner thought: a clock shows whole microseconds."""

import math

MISCONCEPTION = "wrong-values"


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    micro = round(1e6 * (2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta))
    return max(1, math.ceil(micro / max(1, round(1e6 * flops / rate))))
