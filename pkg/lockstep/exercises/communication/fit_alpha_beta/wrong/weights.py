"""The learner gave small messages more weight, by their size."""

import numpy as np

MISCONCEPTION = "other-weights"
TELL = "You divide each error by the size of its message before you square it. Square the errors as they are."


def fit_alpha_beta(nbytes, seconds):
    sizes = np.array(nbytes, dtype=float)
    beta, alpha = np.polyfit(sizes, seconds, 1, w=1 / sizes)
    return alpha, beta
