"""The learner thought: ** multiplies."""

MISCONCEPTION = "power"


def gustafson(p, s):
    return (1 - p) + p**s
