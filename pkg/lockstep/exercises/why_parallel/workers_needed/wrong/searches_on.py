"""The learner thought: some number is enough."""

MISCONCEPTION = "crashed:Stuck"
TELL = "A search that is only long looks the same. When is no number of workers enough? Ask that before you search."


def workers_needed(hours, p, deadline):
    s = 1
    while hours * ((1 - p) + p / s) > deadline:
        s += 1
    return s
