"""The learner thought: speedup is what each worker brings."""

MISCONCEPTION = "efficiency"


def amdahl(p, s):
    return 1 / ((1 - p) + p / s) / s
