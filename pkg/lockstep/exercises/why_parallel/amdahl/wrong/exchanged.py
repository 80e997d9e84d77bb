"""The learner thought: the workers come first."""

MISCONCEPTION = "parameters-exchanged"


def amdahl(s, p):
    return 1 / ((1 - p) + p / s) if s else 1.0
