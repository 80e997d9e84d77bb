"""The learner thought: a / b * c divides by both."""

MISCONCEPTION = "brackets"


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / devices * peak * utilisation / 86400
