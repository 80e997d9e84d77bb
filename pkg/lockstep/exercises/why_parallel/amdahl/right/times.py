"""The two times, written out."""


def amdahl(p, s):
    one_worker = 1.0
    serial, parallel = one_worker - p, p / s
    return one_worker / (serial + parallel)
