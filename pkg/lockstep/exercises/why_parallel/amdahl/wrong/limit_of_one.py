"""The learner thought: with p = 1 there is no limit, so the speedup is 1."""

MISCONCEPTION = "wrong-values"


def amdahl(p, s):
    limit = 1 / (1 - p) if p < 1 else 1.0
    return min(limit, 1 / (1 - p + p / s))
