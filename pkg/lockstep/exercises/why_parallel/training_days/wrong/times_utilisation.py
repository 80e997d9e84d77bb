"""The learner thought: the utilisation is a factor."""

MISCONCEPTION = "multiplies-utilisation"


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak) * utilisation / 86400
