"""The learner thought: a speedup is the time of s workers divided by that of one."""

MISCONCEPTION = "time-not-speedup"


def gustafson(p, s):
    return 1 / ((1 - p) + p * s)
