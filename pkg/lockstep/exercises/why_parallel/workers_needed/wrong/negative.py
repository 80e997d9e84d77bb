"""The learner thought: the formula says it all."""

import math

MISCONCEPTION = "impossible-not-none"
TELL = "Where no number of workers is enough, return None: ask that before you calculate."


def workers_needed(hours, p, deadline):
    return max(1, math.ceil(p * hours / (deadline - (1 - p) * hours)))
