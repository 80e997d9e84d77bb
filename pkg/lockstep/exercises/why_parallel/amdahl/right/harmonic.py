"""A weighted harmonic mean of the two speedups: 1 for the serial part, s for the parallel one."""

import statistics


def amdahl(p, s):
    return statistics.harmonic_mean([1, s], weights=[1 - p, p])
