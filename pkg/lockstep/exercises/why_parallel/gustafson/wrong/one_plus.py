"""The learner thought: the serial part takes 1, and the parallel work comes on top of it."""

MISCONCEPTION = "serial-part-whole"
TELL = "This is 1 + p * s: the serial part counts as all of the time. It takes the share 1 - p of it."


def gustafson(p, s):
    return 1 + p * s
