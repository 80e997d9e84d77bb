"""The learner thought: twice the workers, half the time."""

import math

MISCONCEPTION = "linear"


def workers_needed(hours, p, deadline):
    return math.ceil(hours / deadline)
