"""The learner thought: one of the first 3,000 is in time."""

MISCONCEPTION = "crashed:RankRaised"
RAISES = "list index out of range|empty|StopIteration|index 0 is out of bounds"
TELL = "Is there no number in it that is in time? Then none is enough, or your search ends too early."


def workers_needed(hours, p, deadline):
    return [s for s in range(1, 3_000) if hours * ((1 - p) + p / s) <= deadline][0]
