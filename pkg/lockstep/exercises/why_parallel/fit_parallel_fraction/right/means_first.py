"""The runs of the same number of workers are averaged first."""

import numpy as np


def fit_parallel_fraction(workers, times):
    kinds = sorted(set(workers))
    means = [np.mean([t for s, t in zip(workers, times, strict=False) if s == kind]) for kind in kinds]
    parallel, serial = np.polyfit([1 / s for s in kinds], means, 1)
    return float(parallel / (serial + parallel))
