"""The learner thought: K-1 of K is nearly all, so a rank sends 2n bytes."""

import math

MISCONCEPTION = "twice-all-bytes"
TELL = "This is what 2n bytes take. A rank keeps one chunk of K each time: it sends 2(K-1)/K·n bytes."


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    if ranks == 1:
        return 1
    seconds = 2 * (ranks - 1) * alpha + 2 * nbytes * beta
    return max(1, math.ceil(seconds * rate / flops))
