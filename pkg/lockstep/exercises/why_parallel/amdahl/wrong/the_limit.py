"""The learner thought: the parallel part disappears when there are many workers."""

MISCONCEPTION = "limit-only"


def amdahl(p, s):
    return 1 / (1 - p) if p < 1 else s
