"""The learner thought: the workers come first."""

MISCONCEPTION = "parameters-exchanged"
TELL = "It would be right for gustafson(s, p). Your function is called as gustafson(p, s): the share comes first."


def gustafson(s, p):
    return (1 - p) + p * s
