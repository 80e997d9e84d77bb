"""The learner thought: one rank sends nothing, so the formula's 0 is right."""

import math

MISCONCEPTION = "at-least-one"
TELL = "One rank sends nothing, and any batch hides it; but a batch has at least 1 example."


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    return math.ceil(seconds * rate / flops)
