"""The runs of the same number of workers are averaged first, and each mean counts as often as it was measured."""

from collections import Counter

import numpy as np


def fit_parallel_fraction(workers, times):
    runs = Counter(workers)
    means = [sum(t for s, t in zip(workers, times) if s == kind) / n for kind, n in runs.items()]
    weights = [n**0.5 for n in runs.values()]  # np.polyfit multiplies what it squares
    parallel, serial = np.polyfit([1 / s for s in runs], means, 1, w=weights)
    return float(parallel / (serial + parallel))
