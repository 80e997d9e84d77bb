"""The learner thought: beta is the bandwidth."""

import numpy as np

MISCONCEPTION = "bandwidth-not-beta"
TELL = "You return bytes per second; beta is seconds per byte."


def fit_alpha_beta(nbytes, seconds):
    beta, alpha = np.polyfit(nbytes, seconds, 1)
    return float(alpha), float(1 / beta)
