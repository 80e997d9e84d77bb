"""The learner thought: there are no more than 1,024 workers."""

MISCONCEPTION = "wrong-values"


def gustafson(p, s):
    s = min(s, 1024)
    return 1 - p + p * s
