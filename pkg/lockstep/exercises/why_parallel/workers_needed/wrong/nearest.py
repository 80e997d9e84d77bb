"""The learner thought: a number is made whole by round()."""

MISCONCEPTION = "rounds-to-nearest"
TELL = (
    "This is what rounding to the nearest number gives. Where that is down, the deadline is missed: round up "
    "(math.ceil)."
)


def workers_needed(hours, p, deadline):
    left = deadline - (1 - p) * hours
    if left <= 0:
        return None
    return max(1, round(p * hours / left))
