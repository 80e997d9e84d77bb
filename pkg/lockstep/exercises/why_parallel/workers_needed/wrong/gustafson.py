"""The learner thought: the speedup that is needed, by Gustafson."""

import math

MISCONCEPTION = "gustafson"
TELL = "This is by Gustafson's law, in which the work grows. Here it is the same work: use Amdahl's."


def workers_needed(hours, p, deadline):
    return max(1, math.ceil((hours / deadline - (1 - p)) / p))
