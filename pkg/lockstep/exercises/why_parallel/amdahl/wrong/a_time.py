"""The learner thought: the law gives the time of s workers."""

MISCONCEPTION = "time-not-speedup"
TELL = "This is the time of s workers, if one worker needs 1. The speedup is the time of one worker divided by it."


def amdahl(p, s):
    return (1 - p) + p / s
