"""The learner thought: one of the first 3,000 is in time."""

MISCONCEPTION = "crashed:RankRaised"


def workers_needed(hours, p, deadline):
    return [s for s in range(1, 3_000) if hours * ((1 - p) + p / s) <= deadline][0]
