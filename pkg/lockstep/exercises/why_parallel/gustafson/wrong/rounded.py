"""The learner thought: one decimal is enough."""

MISCONCEPTION = "rounded"


def gustafson(p, s):
    return round((1 - p) + p * s, 1)
