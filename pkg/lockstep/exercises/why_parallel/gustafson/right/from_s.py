"""s, less what the others would have done during the serial part."""


def gustafson(p, s):
    return s - (1 - p) * (s - 1)
