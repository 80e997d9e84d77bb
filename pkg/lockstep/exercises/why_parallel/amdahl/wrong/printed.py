"""The learner thought: showing the number is enough."""

MISCONCEPTION = "wrong-type"


def amdahl(p, s):
    print(1 / ((1 - p) + p / s))
