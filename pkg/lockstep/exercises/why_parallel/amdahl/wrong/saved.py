"""The learner thought: a speedup is the time that is saved."""

MISCONCEPTION = "time-saved"
TELL = (
    "This is the share of the time that is saved. The speedup is the time of one worker divided by the time of s "
    "workers."
)


def amdahl(p, s):
    return 1 - ((1 - p) + p / s)
