"""The learner thought: a speedup is how much faster it is than before."""

MISCONCEPTION = "gain-not-speedup"
TELL = "This is 1 less than the speedup: twice as fast is a speedup of 2, not of 1."


def amdahl(p, s):
    return 1 / ((1 - p) + p / s) - 1
