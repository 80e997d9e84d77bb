"""The learner thought: each of the 2(K-1) messages carries the gradients."""

import math

MISCONCEPTION = "whole-tensors"
TELL = "This is a ring whose every message carries all n bytes. Each carries one chunk: n / K."


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * (alpha + nbytes * beta)
    return max(1, math.ceil(seconds * rate / flops))
