"""The learner thought: each parameter and token is one operation."""

MISCONCEPTION = "one-flop"


def training_days(params, tokens, devices, peak, utilisation):
    return params * tokens / (devices * peak * utilisation) / 86400
