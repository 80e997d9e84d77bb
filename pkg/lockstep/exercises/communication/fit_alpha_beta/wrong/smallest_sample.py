"""The learner thought: the smallest message is nothing but latency."""

MISCONCEPTION = "alpha-from-smallest"
TELL = "You take the time of a smallest message for alpha: its n·beta is still in it, and its noise."


def fit_alpha_beta(nbytes, seconds):
    samples = sorted(zip(nbytes, seconds, strict=True))
    alpha = samples[0][1]
    size, time = samples[-1]
    return alpha, (time - alpha) / size
