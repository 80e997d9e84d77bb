"""The learner thought: NumPy is compiled already."""

MISCONCEPTION = "not-compiled"


def dot(x, y):
    return float((x * y).sum())
