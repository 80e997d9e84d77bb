"""The learner fitted log t to log n, and returned what polyfit gave."""

import numpy as np

MISCONCEPTION = "log-log"
TELL = "A straight line through log n and log t is a power law, which has no alpha: fit t itself."


def fit_alpha_beta(nbytes, seconds):
    slope, constant = np.polyfit(np.log(nbytes), np.log(seconds), 1)
    return float(np.exp(constant)), float(slope)
