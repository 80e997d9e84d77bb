"""The learner thought: nothing sent, nothing spent."""

MISCONCEPTION = "through-origin"
TELL = "Your line goes through the origin and has no latency: alpha is where the best line meets the axis."


def fit_alpha_beta(nbytes, seconds):
    beta = sum(n * t for n, t in zip(nbytes, seconds, strict=True)) / sum(n * n for n in nbytes)
    return 0.0, beta
