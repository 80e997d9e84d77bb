"""The learner thought: p is a percentage, so it is divided by 100 first."""

MISCONCEPTION = "percent"
TELL = "This is the law for p / 100. But p is no percentage: it is a share from 0 to 1, 0.95 for 95 %."


def amdahl(p, s):
    p = p / 100
    return 1 / ((1 - p) + p / s)
