"""The learner took the median slope of all pairs, which no late message moves."""

from itertools import combinations
from statistics import median

MISCONCEPTION = "median-of-slopes"
TELL = "Your beta is the median of the slopes between pairs. In least squares every measurement has its part, the late ones too."


def fit_alpha_beta(nbytes, seconds):
    samples = sorted(zip(nbytes, seconds, strict=True))
    beta = median((t1 - t0) / (n1 - n0) for (n0, t0), (n1, t1) in combinations(samples, 2) if n0 != n1)
    return median(t - n * beta for n, t in samples), beta
