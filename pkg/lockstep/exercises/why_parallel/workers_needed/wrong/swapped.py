"""The learner thought: p is the serial part."""

import math

MISCONCEPTION = "swapped-fractions"


def workers_needed(hours, p, deadline):
    left = deadline - p * hours
    return max(1, math.ceil((1 - p) * hours / left)) if left > 0 else None
