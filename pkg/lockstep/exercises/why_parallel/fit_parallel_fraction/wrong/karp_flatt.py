"""The learner thought: every run gives a p, and their mean is the best."""

MISCONCEPTION = "mean-of-points"
TELL = "This is the mean of a p for each run, with the noise of one time in all of them. Fit one line through all runs."


def fit_parallel_fraction(workers, times):
    base = next(t for s, t in zip(workers, times, strict=False) if s == 1) if 1 in workers else times[0] * 2
    found = [(1 - t / base) / (1 - 1 / s) for s, t in zip(workers, times, strict=False) if s > 1]
    return sum(found) / len(found)
