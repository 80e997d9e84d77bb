"""The learner thought: an all-reduce is a reduce and a broadcast, by trees."""

import math

MISCONCEPTION = "tree"
TELL = "This is the time of a tree, up and down. A ring is asked for."


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * math.ceil(math.log2(ranks)) * (alpha + nbytes * beta)
    return max(1, math.ceil(seconds * rate / flops))
