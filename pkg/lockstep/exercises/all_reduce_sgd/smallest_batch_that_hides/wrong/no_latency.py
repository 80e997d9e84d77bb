"""The learner thought: gradients are large, so alpha does not matter."""

import math

MISCONCEPTION = "forgets-alpha"
TELL = "It would be right if alpha were 0. Each of the ring's 2(K-1) messages costs alpha on its own."


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    return max(1, math.ceil(2 * (ranks - 1) / ranks * nbytes * beta * rate / flops))
