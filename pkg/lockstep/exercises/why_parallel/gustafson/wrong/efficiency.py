"""The learner thought: speedup is what each worker brings."""

MISCONCEPTION = "efficiency"


def gustafson(p, s):
    return ((1 - p) + p * s) / s
