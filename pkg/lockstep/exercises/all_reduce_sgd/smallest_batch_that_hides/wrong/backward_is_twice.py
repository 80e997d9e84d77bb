"""The learner thought: flops are those of the forward pass, and the backward pass takes twice as many."""

import math

MISCONCEPTION = "half"
TELL = (
    "This is half of it. A ring has 2(K-1) rounds: K-1 of them add up, K-1 more hand the sums round. And flops are "
    "those of the backward pass already: they are not doubled."
)


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    return max(1, math.ceil(seconds * rate / (2 * flops)))
