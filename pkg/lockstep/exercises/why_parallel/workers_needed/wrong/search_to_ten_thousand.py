"""The learner thought: after 10,000 workers it is hopeless."""

MISCONCEPTION = "wrong-values"


def workers_needed(hours, p, deadline):
    for s in range(1, 10_001):
        if hours * ((1 - p) + p / s) <= deadline:
            return s
    return None
