"""The learner thought: the speedup that is needed, by Gustafson."""

import math

MISCONCEPTION = "gustafson"


def workers_needed(hours, p, deadline):
    return max(1, math.ceil((hours / deadline - (1 - p)) / p))
