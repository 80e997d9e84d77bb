"""The learner thought: the first run of the fewest workers and the first of the most are enough."""

MISCONCEPTION = "two-points-only"
TELL = "Here two runs decide alone, and their noise is in p. Fit one line through all runs."


def fit_parallel_fraction(workers, times):
    a, b = min(workers), max(workers)
    x, y = times[workers.index(a)], times[workers.index(b)]
    parallel = (x - y) / (1 / a - 1 / b)
    return parallel / (x - parallel / a + parallel)
