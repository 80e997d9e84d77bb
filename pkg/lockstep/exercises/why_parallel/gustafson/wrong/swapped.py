"""The learner thought: p is the part that cannot be divided, as s is in Gustafson's paper."""

MISCONCEPTION = "swapped-fractions"


def gustafson(p, s):
    return p + (1 - p) * s
