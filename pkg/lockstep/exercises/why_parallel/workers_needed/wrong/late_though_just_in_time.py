"""The learner thought: nothing left for the parallel part is always too late, even where there is none."""

import math

MISCONCEPTION = "at-least-one"
TELL = "Where one worker is in time the answer is 1: ask that before anything else."


def workers_needed(hours, p, deadline):
    left = deadline - (1 - p) * hours
    if left <= 0:
        return None
    return max(1, math.ceil(p * hours / left))
