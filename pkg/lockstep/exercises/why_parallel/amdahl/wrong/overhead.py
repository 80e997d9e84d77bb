"""The learner thought: every worker has to do the serial part."""

MISCONCEPTION = "serial-part-grows"
TELL = (
    "It would be right if the serial part were done by every worker in turn, (1 - p) * s. It takes 1 - p, however "
    "many workers there are."
)


def amdahl(p, s):
    return 1 / ((1 - p) * s + p / s)
