"""The learner thought: a number of workers has one speedup, which is computed once."""

MISCONCEPTION = "wrong-values"

known = {}


def gustafson(p, s):
    if s not in known:
        known[s] = 1 - p + p * s
    return known[s]
