"""The learner thought: p is a percentage."""

MISCONCEPTION = "percent"


def gustafson(p, s):
    p = p / 100
    return (1 - p) + p * s
