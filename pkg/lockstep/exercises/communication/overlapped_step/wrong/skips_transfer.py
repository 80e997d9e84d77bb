"""The learner thought: the gradient is there already."""

MISCONCEPTION = "skips-transfer"
TELL = "Each rank returns its own gradient, not the sum: return the tensor in which all_reduce has made it."


def overlapped_step(gradient, x, weights, group=None):
    return gradient, x @ weights
