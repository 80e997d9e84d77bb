"""The learner thought: a fraction needs no brackets."""

MISCONCEPTION = "brackets"


def amdahl(p, s):
    return 1 / (1 - p) + p / s if p < 1 else s
