"""The learner thought: it is too late only where the serial part takes longer than the deadline."""

import math

MISCONCEPTION = "crashed:RankRaised"


def workers_needed(hours, p, deadline):
    if hours <= deadline:
        return 1
    if deadline < (1 - p) * hours:
        return None
    return math.ceil(p * hours / (deadline - (1 - p) * hours))
