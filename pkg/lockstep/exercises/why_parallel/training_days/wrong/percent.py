"""The learner thought: the utilisation is in percent."""

MISCONCEPTION = "percent"


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak * utilisation / 100) / 86400
