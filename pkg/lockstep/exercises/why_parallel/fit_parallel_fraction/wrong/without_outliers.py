"""The learner thought: runs that are far off the line are mistakes."""

import numpy as np

MISCONCEPTION = "drops-runs"
TELL = "This is the line without the runs that are far off. Least squares over all runs are wanted: leave none out."


def fit_parallel_fraction(workers, times):
    x, t = 1 / np.array(workers, dtype=float), np.array(times)
    off = t - np.polyval(np.polyfit(x, t, 1), x)
    kept = np.abs(off) <= 1.5 * off.std() + 1e-12
    parallel, serial = np.polyfit(x[kept], t[kept], 1)
    return float(parallel / (serial + parallel))
