"""The learner thought: the smallest message is nothing but latency."""

MISCONCEPTION = "alpha-from-smallest"


def fit_alpha_beta(nbytes, seconds):
    samples = sorted(zip(nbytes, seconds, strict=True))
    alpha = samples[0][1]
    size, time = samples[-1]
    return alpha, (time - alpha) / size
