"""The learner thought: forward and backward both hide it, so there are three halves of the flops."""

import math

MISCONCEPTION = "forward-hides-too"
TELL = (
    "It would be right if the forward pass hid it as well. When that runs there is no gradient yet that could travel: "
    "only the backward pass counts."
)


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    return max(1, math.ceil(seconds * rate / (1.5 * flops)))
