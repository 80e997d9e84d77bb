"""The learner thought: p is the serial part."""

import math

MISCONCEPTION = "swapped-fractions"
TELL = "It would be right if p were the serial fraction. Here p is the part that can be divided."


def workers_needed(hours, p, deadline):
    left = deadline - p * hours
    return max(1, math.ceil((1 - p) * hours / left)) if left > 0 else None
