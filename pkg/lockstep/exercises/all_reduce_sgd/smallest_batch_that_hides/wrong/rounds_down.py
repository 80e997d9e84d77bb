"""The learner thought: a number is made whole by int()."""

MISCONCEPTION = "rounds-down"
TELL = (
    "This is what rounding down gives: the backward pass of so few examples is over before the all-reduce. Round up "
    "(math.ceil)."
)


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    return max(1, int(seconds * rate / flops))
