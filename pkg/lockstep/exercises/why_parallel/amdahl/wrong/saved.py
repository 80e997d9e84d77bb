"""The learner thought: a speedup is the time that is saved."""

MISCONCEPTION = "time-saved"


def amdahl(p, s):
    return 1 - ((1 - p) + p / s)
