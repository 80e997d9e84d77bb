"""The learner thought: only the parallel part must be done by the deadline."""

import math

MISCONCEPTION = "forgets-serial-part"
TELL = (
    "It would be right if the parallel part had all of the deadline. First goes the serial part, (1 - p) * hours; "
    "only the rest is left for p * hours / s."
)


def workers_needed(hours, p, deadline):
    return max(1, math.ceil(p * hours / deadline))
