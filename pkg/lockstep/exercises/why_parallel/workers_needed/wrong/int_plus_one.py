"""The learner thought: rounding up is int(x) + 1."""

MISCONCEPTION = "one-too-many"
TELL = (
    "This is one worker too many: with one fewer the deadline is met exactly, and that is in time. int(x) + 1 and "
    "a strict comparison both do this; math.ceil and <= do not."
)


def workers_needed(hours, p, deadline):
    if hours <= deadline:
        return 1
    left = deadline - (1 - p) * hours
    if left <= 0:
        return None
    return int(p * hours / left) + 1
