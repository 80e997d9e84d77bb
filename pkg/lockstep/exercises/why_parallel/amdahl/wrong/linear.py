"""The learner thought: s workers are s times as fast."""

MISCONCEPTION = "linear"
TELL = (
    "This is s: it would be right if all of the work were divided. The serial part, 1 - p, takes as long as "
    "before, however many workers there are."
)


def amdahl(p, s):
    return s
