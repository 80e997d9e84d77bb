"""The learner thought: p has two digits, so a cache can find it by them."""

MISCONCEPTION = "wrong-values"

known = {}


def amdahl(p, s):
    key = round(p, 2), s
    if key not in known:
        known[key] = 1 / (1 - p + p / s)
    return known[key]
