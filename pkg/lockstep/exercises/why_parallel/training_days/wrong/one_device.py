"""The learner thought: the number of devices does not matter for one model."""

MISCONCEPTION = "one-device"
TELL = "It would be right for one device: divide by devices."


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (peak * utilisation) / 86400
