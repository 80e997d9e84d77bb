"""The learner thought: rounding up is int(x) + 1."""

MISCONCEPTION = "one-too-many"
TELL = (
    "This is one example too many where both take equally long, and that is long enough. int(x) + 1 and a strict "
    "comparison both do this; math.ceil and >= do not."
)


def smallest_batch_that_hides(flops, nbytes, ranks, alpha, beta, rate):
    seconds = 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    return int(seconds * rate / flops) + 1
