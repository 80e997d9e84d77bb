"""The learner thought: some number is enough."""

MISCONCEPTION = "crashed:Stuck"


def workers_needed(hours, p, deadline):
    s = 1
    while hours * ((1 - p) + p / s) > deadline:
        s += 1
    return s
