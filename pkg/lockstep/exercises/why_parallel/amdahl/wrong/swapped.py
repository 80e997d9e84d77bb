"""The learner thought: p is the part that cannot be divided."""

MISCONCEPTION = "swapped-fractions"


def amdahl(p, s):
    return 1 / (p + (1 - p) / s)
