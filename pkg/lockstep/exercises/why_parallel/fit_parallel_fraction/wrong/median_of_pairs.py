"""The learner thought: the median of many slopes is safe from outliers."""

from itertools import combinations
from statistics import median

MISCONCEPTION = "median-of-slopes"
TELL = (
    "This is the line of the median of all slopes (Theil and Sen). Least squares are wanted: every run counts, "
    "outliers too."
)


def fit_parallel_fraction(workers, times):
    rows = [(1 / s, t) for s, t in zip(workers, times)]
    slope = median((u - t) / (y - x) for (x, t), (y, u) in combinations(rows, 2) if x != y)
    start = median(t - slope * x for x, t in rows)
    return slope / (start + slope)
