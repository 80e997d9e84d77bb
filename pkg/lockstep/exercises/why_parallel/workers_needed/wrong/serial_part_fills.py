"""The learner thought: it is too late only where the serial part takes longer than the deadline."""

import math

MISCONCEPTION = "crashed:RankRaised"
RAISES = "^ZeroDivisionError"
TELL = "What you divide by is 0 there. What is the answer, in words? Return it before you divide."


def workers_needed(hours, p, deadline):
    if hours <= deadline:
        return 1
    if deadline < (1 - p) * hours:
        return None
    return math.ceil(p * hours / (deadline - (1 - p) * hours))
