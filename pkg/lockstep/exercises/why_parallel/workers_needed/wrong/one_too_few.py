"""The learner thought: the last number that is late is the answer."""

MISCONCEPTION = "rounds-down"
TELL = (
    "This is what rounding down gives: so few workers miss the deadline. Round up (math.ceil); or let a search "
    "end at the first number that is in time."
)


def workers_needed(hours, p, deadline):
    if hours <= deadline:
        return 1
    left = deadline - (1 - p) * hours
    if left <= 0:
        return None
    s = 1
    while hours * ((1 - p) + p / s) > deadline:
        s += 1
    return max(1, s - 1)
