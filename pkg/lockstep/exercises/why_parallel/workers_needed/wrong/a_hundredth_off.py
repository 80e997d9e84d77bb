"""The learner thought: rounding may be a hundredth of a worker."""

import math

MISCONCEPTION = "wrong-values"


def workers_needed(hours, p, deadline):
    if deadline >= hours:
        return 1
    left = deadline - (1 - p) * hours
    if left <= 0:
        return None
    return max(1, math.ceil(p * hours / left - 0.01))
