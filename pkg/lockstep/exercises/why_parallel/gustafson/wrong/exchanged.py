"""The learner thought: the workers come first."""

MISCONCEPTION = "parameters-exchanged"


def gustafson(s, p):
    return (1 - p) + p * s
