"""The learner thought: the formula gives the number."""

MISCONCEPTION = "not-a-whole-number"
TELL = "You return a fraction of an example. Round up (math.ceil)."


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    return max(1, seconds * rate / flops)
