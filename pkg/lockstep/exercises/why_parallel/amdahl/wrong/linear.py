"""The learner thought: s workers are s times as fast."""

MISCONCEPTION = "linear"


def amdahl(p, s):
    return s
