"""The learner multiplied whole numbers with NumPy, in int64."""

import numpy as np

MISCONCEPTION = "int64-overflows"
TELL = "6·N·D is a whole number that no int64 holds: NumPy drops what is beyond 64 bits, without a word. Multiply Python's numbers, or floats."


def training_days(params, tokens, devices, peak, utilisation):
    flop = np.prod([6, params, tokens])
    seconds = flop / (devices * peak * utilisation)
    return float(seconds / 86400)
