"""The learner thought: a fraction needs no brackets."""

MISCONCEPTION = "brackets"
TELL = "This is 1 / (1 - p) + p / s. Put brackets around the whole time: 1 is divided by the sum of both parts."


def amdahl(p, s):
    return 1 / (1 - p) + p / s if p < 1 else s
