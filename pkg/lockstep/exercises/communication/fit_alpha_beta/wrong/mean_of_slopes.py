"""The learner took the mean slope of neighbours for beta, and the mean rest for alpha."""

from statistics import mean

MISCONCEPTION = "mean-of-slopes"
TELL = "Your beta is the mean of the slopes between neighbours, in which short steps count as much as long ones: fit one line by least squares."


def fit_alpha_beta(nbytes, seconds):
    samples = sorted(zip(nbytes, seconds, strict=True))
    pairs = [(a, b) for a, b in zip(samples, samples[1:], strict=False) if a[0] != b[0]]
    beta = mean((t1 - t0) / (n1 - n0) for (n0, t0), (n1, t1) in pairs)
    return mean(t - n * beta for n, t in samples), beta
