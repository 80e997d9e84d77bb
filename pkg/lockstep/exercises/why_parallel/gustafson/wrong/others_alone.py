"""The learner thought: one worker is busy with the serial part, so s - 1 are left for the other."""

MISCONCEPTION = "offset"


def gustafson(p, s):
    return (1 - p) + p * (s - 1)
