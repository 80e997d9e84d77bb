"""The learner thought: p is a percentage."""

MISCONCEPTION = "percent"
TELL = "This is the law for p / 100. But p is no percentage: it is a share from 0 to 1, 0.95 for 95 %."


def gustafson(p, s):
    p = p / 100
    return (1 - p) + p * s
