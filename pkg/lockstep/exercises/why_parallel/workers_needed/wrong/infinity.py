"""The learner thought: if nobody can do it, it takes infinitely many."""

import math

MISCONCEPTION = "impossible-not-none"
TELL = "Where no number of workers is enough, return None: ask that before you calculate."


def workers_needed(hours, p, deadline):
    left = deadline - (1 - p) * hours
    return max(1, math.ceil(p * hours / left)) if left > 0 else math.inf
