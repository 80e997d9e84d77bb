"""The learner thought: numpy rounds up as well."""

import numpy as np

MISCONCEPTION = "not-an-integer"


def workers_needed(hours, p, deadline):
    if hours <= deadline:
        return 1
    left = deadline - (1 - p) * hours
    if left <= 0:
        return None
    return max(1.0, float(np.ceil(p * hours / left)))
