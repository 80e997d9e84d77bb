"""The learner thought: the formula gives at least 1 of itself. With p = 0 it gives 0."""

import math

MISCONCEPTION = "at-least-one"
TELL = "Where one worker is in time the answer is 1: ask that before anything else."


def workers_needed(hours, p, deadline):
    left = deadline - (1 - p) * hours
    if left <= 0:
        return None
    return math.ceil(p * hours / left)
