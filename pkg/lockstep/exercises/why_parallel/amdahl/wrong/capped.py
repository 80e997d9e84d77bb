"""The learner thought: there are no more than 1,024 workers."""

MISCONCEPTION = "wrong-values"


def amdahl(p, s):
    s = min(s, 1024)
    return 1 / (1 - p + p / s)
