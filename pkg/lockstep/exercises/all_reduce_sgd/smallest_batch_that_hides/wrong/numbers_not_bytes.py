"""The learner thought: nbytes are the gradients' numbers, of 4 bytes each."""

import math

MISCONCEPTION = "bytes-times-four"
TELL = "This is 4 times as many bytes as travel. nbytes counts bytes already, not numbers."


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * 4 * beta
    return max(1, math.ceil(seconds * rate / flops))
