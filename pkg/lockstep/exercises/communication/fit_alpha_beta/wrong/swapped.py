"""The learner thought: polyfit gives the constant first."""

import numpy as np

MISCONCEPTION = "swapped"
TELL = "They are exchanged: alpha comes first."


def fit_alpha_beta(nbytes, seconds):
    first, second = np.polyfit(nbytes, seconds, 1)
    return float(first), float(second)
