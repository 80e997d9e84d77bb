"""The learner thought: the number of devices does not matter for one model."""

MISCONCEPTION = "one-device"


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (peak * utilisation) / 86400
