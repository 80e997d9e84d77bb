"""The learner thought: a run that is very far off the line was a mistake."""

import numpy as np

MISCONCEPTION = "drops-runs"
TELL = "This is the line without a run that is very far off. Least squares over all runs are wanted: leave none out."
VARIANTS = ["without_outliers"]


def fit_parallel_fraction(workers, times):
    x, t = 1 / np.array(workers, dtype=float), np.array(times, dtype=float)
    slope, height = np.polyfit(x, t, deg=1)
    off = np.abs(t - slope * x - height)
    keep = off <= 2.5 * off.std() + 1e-12
    if keep.sum() >= 2 and len(set(x[keep])) >= 2:
        slope, height = np.polyfit(x[keep], t[keep], deg=1)
    return float(slope / (slope + height))
