"""The learner thought: one more, to be safe."""

import math

MISCONCEPTION = "one-too-many"
TELL = "This is one worker more than are needed: the fewest that are in time are wanted."


def workers_needed(hours, p, deadline):
    if hours <= deadline:
        return 1
    left = deadline - (1 - p) * hours
    if left <= 0:
        return None
    return math.ceil(p * hours / left) + 1
