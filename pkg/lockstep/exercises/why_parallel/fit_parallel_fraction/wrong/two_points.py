"""The learner thought: one worker and the most workers say it all."""

MISCONCEPTION = "two-points-only"
TELL = "Here two runs decide alone, and their noise is in p. Fit one line through all runs."


def fit_parallel_fraction(workers, times):
    pairs = sorted(zip(workers, times, strict=False))
    (a, x), (b, y) = pairs[0], pairs[-1]
    parallel = (x - y) / (1 / a - 1 / b)
    return parallel / (x - parallel / a + parallel)
