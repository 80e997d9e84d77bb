"""The learner thought: adding a half turns rounding into rounding up."""

MISCONCEPTION = "half-to-even"
TELL = (
    "round(x + 0.5) is not rounding up: Python rounds a half to the even number, so a whole x that is odd comes out one "
    "too large. math.ceil rounds up."
)


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    return max(1, round(seconds * rate / flops + 0.5))
