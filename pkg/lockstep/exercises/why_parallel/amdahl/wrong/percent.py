"""The learner thought: a fraction is given in percent."""

MISCONCEPTION = "percent"


def amdahl(p, s):
    serial = 100 - p
    return 100 / (serial + p / s)
