"""The learner thought: p has two digits behind the point."""

MISCONCEPTION = "wrong-values"


def amdahl(p, s):
    p = round(p, 2)
    return 1 / ((1 - p) + p / s)
