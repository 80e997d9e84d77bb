"""The learner thought: p is the part that cannot be divided."""

MISCONCEPTION = "swapped-fractions"
TELL = "It would be right if p were the serial fraction. Here p is the part that can be divided among the workers."


def amdahl(p, s):
    return 1 / (p + (1 - p) / s)
