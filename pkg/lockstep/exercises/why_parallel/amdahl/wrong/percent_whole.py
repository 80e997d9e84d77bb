"""The learner thought: p is a percentage, so it is divided by 100 first."""

MISCONCEPTION = "percent"


def amdahl(p, s):
    p = p / 100
    return 1 / ((1 - p) + p / s)
