"""The learner thought: days are whole."""

import math

MISCONCEPTION = "rounded"


def training_days(params, tokens, devices, peak, utilisation):
    return math.ceil(6 * params * tokens / (devices * peak * utilisation) / 86400)
