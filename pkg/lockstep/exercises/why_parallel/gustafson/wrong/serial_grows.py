"""The learner thought: all of the work grows with the workers."""

MISCONCEPTION = "serial-part-grows"


def gustafson(p, s):
    return (1 - p) * s + p * s
