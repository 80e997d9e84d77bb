"""The learner thought: what hides the all-reduce is the computing of all ranks, so each needs a share of it."""

import math

MISCONCEPTION = "divided-by-ranks"
TELL = "It would be right if the examples could be divided among the ranks. Each rank has to compute for that long."


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    return max(1, math.ceil(seconds * rate / flops / ranks))
