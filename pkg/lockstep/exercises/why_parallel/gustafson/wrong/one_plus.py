"""The learner thought: the serial part takes 1, and the parallel work comes on top of it."""

MISCONCEPTION = "serial-part-whole"


def gustafson(p, s):
    return 1 + p * s
