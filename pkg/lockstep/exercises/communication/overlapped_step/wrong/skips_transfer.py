"""The learner thought: the gradient is there already."""

MISCONCEPTION = "skips-transfer"
TELL = "Each rank returns its own gradient: it is never summed."


def overlapped_step(gradient, x, weights, group=None):
    return gradient, x @ weights
