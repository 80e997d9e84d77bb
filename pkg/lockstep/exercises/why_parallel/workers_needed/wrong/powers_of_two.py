"""The learner thought: machines come in powers of two."""

MISCONCEPTION = "wrong-values"


def workers_needed(hours, p, deadline):
    left = deadline - (1 - p) * hours
    if left <= 0:
        return None
    s = 1
    while hours * ((1 - p) + p / s) > deadline:
        s *= 2
    return s
