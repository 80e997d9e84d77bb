"""The learner thought: the workers come first."""

MISCONCEPTION = "parameters-exchanged"
TELL = "It would be right for amdahl(s, p). Your function is called as amdahl(p, s): the share comes first."


def amdahl(s, p):
    return 1 / ((1 - p) + p / s) if s else 1.0
