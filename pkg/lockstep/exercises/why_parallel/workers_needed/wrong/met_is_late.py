"""The learner thought: a deadline has to be beaten, not met."""

MISCONCEPTION = "one-too-many"
TELL = (
    "This is one worker too many: with one fewer the deadline is met exactly, and that is in time. int(x) + 1 and "
    "a strict comparison both do this; math.ceil and <= do not."
)


def workers_needed(hours, p, deadline):
    if hours <= deadline:
        return 1
    if deadline <= (1 - p) * hours:
        return None
    s = 1
    while hours * ((1 - p) + p / s) >= deadline:
        s += 1
    return s
