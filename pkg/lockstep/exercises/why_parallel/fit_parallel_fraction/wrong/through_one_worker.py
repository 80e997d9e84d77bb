"""The learner thought: the run with one worker is exact, and the line goes through it."""

import numpy as np

MISCONCEPTION = "line-through-one"
TELL = "This is a line through the runs with one worker. They are measured as the others are: let all count alike."


def fit_parallel_fraction(workers, times):
    x, t = 1 / np.array(workers, dtype=float), np.array(times, dtype=float)
    if 1 in workers:
        whole = t[x == 1].mean()
        d = 1 - x
        p = (d * (whole - t)).sum() / (d * d).sum() / whole
        return float(p)
    slope, height = np.polyfit(x, t, deg=1)
    return float(slope / (slope + height))
