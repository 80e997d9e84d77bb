"""The learner thought: a / 24 * 60 * 60 divides by all three."""

MISCONCEPTION = "brackets"


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak * utilisation) / 24 * 60 * 60
