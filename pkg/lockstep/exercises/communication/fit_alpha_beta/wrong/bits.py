"""The learner thought: networks are measured in bits."""

import numpy as np

MISCONCEPTION = "bits-not-bytes"
TELL = "Your beta is for each bit: a byte has 8."


def fit_alpha_beta(nbytes, seconds):
    beta, alpha = np.polyfit([8 * n for n in nbytes], seconds, 1)
    return float(alpha), float(beta)
