"""The learner thought: the first run and the last say it all."""

MISCONCEPTION = "two-points-only"
TELL = "Here two runs decide alone, and their noise is in p. Fit one line through all runs."


def fit_parallel_fraction(workers, times):
    a, b, x, y = workers[0], workers[-1], times[0], times[-1]
    parallel = (x - y) / (1 / a - 1 / b)
    return parallel / (x - parallel / a + parallel)
