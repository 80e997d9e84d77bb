"""The learner thought: only the parallel part must be done by the deadline."""

import math

MISCONCEPTION = "forgets-serial-part"


def workers_needed(hours, p, deadline):
    return max(1, math.ceil(p * hours / deadline))
