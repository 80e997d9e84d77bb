"""The learner thought: the formula gives the number."""

MISCONCEPTION = "not-a-whole-number"
TELL = "You return a fraction of a worker. Round up (math.ceil)."


def workers_needed(hours, p, deadline):
    left = deadline - (1 - p) * hours
    if left <= 0:
        return None
    return max(1.0, p * hours / left)
