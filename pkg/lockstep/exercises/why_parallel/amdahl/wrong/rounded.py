"""The learner thought: two decimals are enough."""

MISCONCEPTION = "rounded"


def amdahl(p, s):
    return round(1 / ((1 - p) + p / s), 2)
