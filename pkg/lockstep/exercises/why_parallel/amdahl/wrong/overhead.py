"""The learner thought: every worker has to do the serial part."""

MISCONCEPTION = "serial-part-grows"


def amdahl(p, s):
    return 1 / ((1 - p) * s + p / s)
