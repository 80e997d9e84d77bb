"""The learner thought: there are no more than 3,000 machines."""

import math

MISCONCEPTION = "constant"


def workers_needed(hours, p, deadline):
    if hours <= deadline:
        return 1
    left = deadline - (1 - p) * hours
    if left <= 0:
        return None
    return min(3000, math.ceil(p * hours / left))
