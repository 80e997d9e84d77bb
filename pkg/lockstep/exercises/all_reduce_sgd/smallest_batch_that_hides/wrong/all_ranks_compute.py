"""The learner thought: all ranks compute the examples together."""

import math

MISCONCEPTION = "batch-of-all-ranks"
TELL = (
    "It would be right if the examples of all ranks were asked for. Wanted are those of one rank, which computes "
    "them at its own rate."
)


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    return max(1, math.ceil(seconds * rate * ranks / flops))
