"""The learner thought: p is the part that cannot be divided, as s is in Gustafson's paper."""

MISCONCEPTION = "swapped-fractions"
TELL = "It would be right if p were the serial fraction. Here p is the share of the time in which all workers are busy."


def gustafson(p, s):
    return p + (1 - p) * s
