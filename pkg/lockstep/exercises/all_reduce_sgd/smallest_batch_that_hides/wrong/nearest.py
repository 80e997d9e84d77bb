"""The learner thought: a number is made whole by round()."""

MISCONCEPTION = "rounds-to-nearest"
TELL = (
    "This is what rounding to the nearest number gives. Where that is down, the backward pass is over too early: "
    "round up (math.ceil)."
)


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    return max(1, round(seconds * rate / flops))
