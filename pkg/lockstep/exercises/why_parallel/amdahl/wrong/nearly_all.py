"""The learner thought: more than 0.999 is everything."""

MISCONCEPTION = "wrong-values"


def amdahl(p, s):
    if p > 0.999:
        return float(s)
    return 1 / (1 - p + p / s)
