"""The learner thought: the last line of a function is its answer."""

MISCONCEPTION = "wrong-type"


def amdahl(p, s):
    1 / ((1 - p) + p / s)
