"""The learner thought: the parallel part takes p/s, so the program is s/p times as fast."""

MISCONCEPTION = "forgets-serial-part"
TELL = (
    "It would be right if the time of s workers were p/s, the parallel part alone. The serial part, 1 - p, comes "
    "on top of it."
)


def amdahl(p, s):
    return s / p if p else 1.0
