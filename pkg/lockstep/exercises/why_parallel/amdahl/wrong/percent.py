"""The learner thought: a fraction is given in percent."""

MISCONCEPTION = "percent"
TELL = "This is the law for p / 100. But p is no percentage: it is a share from 0 to 1, 0.95 for 95 %."


def amdahl(p, s):
    serial = 100 - p
    return 100 / (serial + p / s)
