"""One fraction: s over what s workers' time would be, if all of them were busy with one part after the other."""


def amdahl(p, s):
    return s / (s * (1 - p) + p)
