"""The learner thought: only the parallel part is work."""

MISCONCEPTION = "forgets-serial-part"


def gustafson(p, s):
    return p * s
