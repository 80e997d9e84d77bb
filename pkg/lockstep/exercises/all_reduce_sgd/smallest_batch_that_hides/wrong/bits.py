"""The learner thought: links are counted in bits."""

import math

MISCONCEPTION = "bits"
TELL = "This is 8 times as many bytes as travel. beta is in seconds a byte, not a bit."


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * 8 * beta
    return max(1, math.ceil(seconds * rate / flops))
