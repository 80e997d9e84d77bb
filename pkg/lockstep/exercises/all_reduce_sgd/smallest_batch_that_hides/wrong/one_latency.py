"""The learner thought: a transfer takes alpha + n·beta, so alpha counts once."""

import math

MISCONCEPTION = "alpha-once"
TELL = "Here alpha counts once. The ring sends 2(K-1) messages one after another, and each costs alpha."


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    if ranks == 1:
        return 1
    seconds = alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    return max(1, math.ceil(seconds * rate / flops))
