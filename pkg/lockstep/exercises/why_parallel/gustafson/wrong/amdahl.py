"""The learner thought: there is one law of speedup."""

MISCONCEPTION = "amdahl"


def gustafson(p, s):
    return 1 / ((1 - p) + p / s)
