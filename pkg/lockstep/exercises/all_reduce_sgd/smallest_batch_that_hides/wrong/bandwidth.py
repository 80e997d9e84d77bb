"""The learner thought: beta is the bandwidth."""

import math

MISCONCEPTION = "beta-is-bandwidth"
TELL = "It would be right if beta were bytes a second. It is seconds a byte: multiply by it."


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes / beta
    return max(1, math.ceil(seconds * rate / flops))
