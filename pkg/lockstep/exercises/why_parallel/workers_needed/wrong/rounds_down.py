"""The learner thought: a number is made whole by int()."""

MISCONCEPTION = "rounds-down"
TELL = (
    "This is what rounding down gives: so few workers miss the deadline. Round up (math.ceil); or let a search "
    "end at the first number that is in time."
)


def workers_needed(hours, p, deadline):
    left = deadline - (1 - p) * hours
    if left <= 0:
        return None
    return max(1, int(p * hours / left))
