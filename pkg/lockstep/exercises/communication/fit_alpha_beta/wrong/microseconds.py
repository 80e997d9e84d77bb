"""The learner thought: latencies are told in microseconds."""

import numpy as np

MISCONCEPTION = "wrong-unit"


def fit_alpha_beta(nbytes, seconds):
    beta, alpha = np.polyfit(nbytes, [1e6 * t for t in seconds], 1)
    return float(alpha), float(beta)
