"""The learner thought: twice the workers, half the time."""

import math

MISCONCEPTION = "linear"
TELL = (
    "This is hours / deadline, rounded up: s workers are not s times as fast. The serial part, (1 - p) * hours, "
    "is not divided."
)


def workers_needed(hours, p, deadline):
    return math.ceil(hours / deadline)
