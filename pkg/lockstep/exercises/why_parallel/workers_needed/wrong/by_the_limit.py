"""The learner thought: whatever is above the largest speedup is impossible: and p is never 1."""

import math

MISCONCEPTION = "crashed:RankRaised"
RAISES = "^ZeroDivisionError"
TELL = "What you divide by is 0 there. What is the answer, in words? Return it before you divide."


def workers_needed(hours, p, deadline):
    if hours <= deadline:
        return 1
    needed = hours / deadline
    if needed >= 1 / (1 - p):
        return None
    return math.ceil(p / (1 / needed - (1 - p)))
