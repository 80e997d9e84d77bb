"""The learner thought: 1 / workers is 1 / s for each of them."""

import numpy as np

MISCONCEPTION = "crashed:RankRaised"
RAISES = r"'(int|float|list)' and '(list|int|float)'|negative integer powers|multiply sequence"
TELL = (
    "Python's lists do not calculate: np.array(workers, dtype=float) makes an array of numbers, and 1 / array takes each "
    "of them."
)


def fit_parallel_fraction(workers, times):
    parallel, serial = np.polyfit(1 / workers, times, 1)
    return float(parallel / (serial + parallel))
