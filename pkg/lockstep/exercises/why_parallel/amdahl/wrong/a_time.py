"""The learner thought: the law gives the time of s workers."""

MISCONCEPTION = "time-not-speedup"


def amdahl(p, s):
    return (1 - p) + p / s
