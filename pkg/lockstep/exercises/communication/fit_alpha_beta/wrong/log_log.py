"""The learner thought: sizes from bytes to megabytes belong on logarithmic axes, so the line is fitted there."""

import numpy as np

MISCONCEPTION = "log-log"


def fit_alpha_beta(nbytes, seconds):
    _, constant = np.polyfit(np.log(nbytes), np.log(seconds), 1)
    beta = float(np.exp(constant))
    return float(seconds[0] - beta * nbytes[0]), beta
