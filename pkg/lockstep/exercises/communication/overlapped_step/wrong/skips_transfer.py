"""The learner thought: the gradient is there already."""

MISCONCEPTION = "skips-transfer"


def overlapped_step(gradient, x, weights, group=None):
    return gradient, x @ weights
