"""The learner thought: lstsq gives back the line."""

import numpy as np

MISCONCEPTION = "crashed:RankRaised"
RAISES = r"too many values to unpack[^\n]*\n(.|\n)*lstsq|lstsq(.|\n)*too many values"
TELL = (
    "np.linalg.lstsq gives back four things, of which the solution is the first: (a, b), *rest = np.linalg.lstsq(...)."
)


def fit_parallel_fraction(workers, times):
    shares = 1 / np.array(workers, dtype=float)
    serial, parallel = np.linalg.lstsq(np.stack([np.ones_like(shares), shares], axis=1), times, rcond=None)
    return float(parallel / (serial + parallel))
