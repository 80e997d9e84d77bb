"""The learner thought: latencies are told in microseconds."""

import numpy as np

MISCONCEPTION = "wrong-unit"
TELL = "Both are 1,000,000 times too large: you return microseconds; seconds are wanted."


def fit_alpha_beta(nbytes, seconds):
    beta, alpha = np.polyfit(nbytes, [1e6 * t for t in seconds], 1)
    return float(alpha), float(beta)
