"""The learner thought: a number is made whole by round()."""

MISCONCEPTION = "rounds-to-nearest"


def workers_needed(hours, p, deadline):
    left = deadline - (1 - p) * hours
    if left <= 0:
        return None
    return max(1, round(p * hours / left))
