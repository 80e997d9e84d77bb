"""The learner thought: a speedup is told in percent."""

MISCONCEPTION = "constant-factor"


def amdahl(p, s):
    return 100 / ((1 - p) + p / s)
