"""The slope is a covariance divided by a variance, in plain Python."""

import statistics


def fit_parallel_fraction(workers, times):
    line = statistics.linear_regression([1 / s for s in workers], times)
    return line.slope / (line.intercept + line.slope)
