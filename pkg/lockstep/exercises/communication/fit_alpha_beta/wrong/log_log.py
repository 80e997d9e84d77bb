"""The learner thought: sizes from bytes to megabytes belong on logarithmic axes, so the line is fitted there."""

import numpy as np

MISCONCEPTION = "log-log"
TELL = "A straight line through log n and log t is a power law, which has no alpha: fit t itself."


def fit_alpha_beta(nbytes, seconds):
    _, constant = np.polyfit(np.log(nbytes), np.log(seconds), 1)
    beta = float(np.exp(constant))
    return float(seconds[0] - beta * nbytes[0]), beta
