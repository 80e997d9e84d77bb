"""The learner thought: the parallel part takes p/s, so the program is s/p times as fast."""

MISCONCEPTION = "forgets-serial-part"


def amdahl(p, s):
    return s / p if p else 1.0
