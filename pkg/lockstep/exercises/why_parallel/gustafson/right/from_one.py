"""1, and what the other s - 1 workers add."""


def gustafson(p, s):
    return 1 + p * (s - 1)
