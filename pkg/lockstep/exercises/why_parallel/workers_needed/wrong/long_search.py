"""The learner thought: nobody asks for more than 40,000 workers."""

MISCONCEPTION = "wrong-values"


def workers_needed(hours, p, deadline):
    for s in range(1, 40_000):
        if hours * ((1 - p) + p / s) <= deadline:
            return s
    return None
