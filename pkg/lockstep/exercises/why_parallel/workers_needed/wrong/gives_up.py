"""The learner thought: nobody has more than ten machines."""

MISCONCEPTION = "wrong-values"


def workers_needed(hours, p, deadline):
    for s in range(1, 11):
        if hours * ((1 - p) + p / s) <= deadline:
            return s
    return None
