"""The learner thought: after K-1 rounds everything has been added up."""

import math

MISCONCEPTION = "half"
TELL = (
    "This is half of it. A ring has 2(K-1) rounds: K-1 of them add up, K-1 more hand the sums round. And flops are "
    "those of the backward pass already: they are not doubled."
)


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = (ranks - 1) * (alpha + nbytes / ranks * beta)
    return max(1, math.ceil(seconds * rate / flops))
