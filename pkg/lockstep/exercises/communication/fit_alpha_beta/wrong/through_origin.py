"""The learner thought: nothing sent, nothing spent."""

MISCONCEPTION = "through-origin"


def fit_alpha_beta(nbytes, seconds):
    beta = sum(n * t for n, t in zip(nbytes, seconds, strict=True)) / sum(n * n for n in nbytes)
    return 0.0, beta
