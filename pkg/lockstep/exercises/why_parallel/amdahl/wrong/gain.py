"""The learner thought: a speedup is how much faster it is than before."""

MISCONCEPTION = "gain-not-speedup"


def amdahl(p, s):
    return 1 / ((1 - p) + p / s) - 1
