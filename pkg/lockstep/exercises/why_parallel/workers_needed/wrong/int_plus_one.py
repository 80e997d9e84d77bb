"""The learner thought: rounding up is int(x) + 1."""

MISCONCEPTION = "one-too-many"


def workers_needed(hours, p, deadline):
    if hours <= deadline:
        return 1
    left = deadline - (1 - p) * hours
    if left <= 0:
        return None
    return int(p * hours / left) + 1
