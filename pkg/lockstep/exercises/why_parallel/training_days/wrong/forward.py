"""The learner thought: a parameter is multiplied and added once for every token."""

MISCONCEPTION = "forward-only"


def training_days(params, tokens, devices, peak, utilisation):
    return 2 * params * tokens / (devices * peak * utilisation) / 86400
