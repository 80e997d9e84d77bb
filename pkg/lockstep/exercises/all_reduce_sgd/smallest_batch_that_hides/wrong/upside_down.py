"""The learner thought: an example takes rate / flops seconds."""

import math

MISCONCEPTION = "rate-upside-down"
TELL = "An example takes flops / rate seconds; here it is rate / flops."


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    return max(1, math.ceil(seconds / (rate / flops)))
