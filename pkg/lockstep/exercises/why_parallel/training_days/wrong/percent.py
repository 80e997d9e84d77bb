"""The learner thought: the utilisation is in percent."""

MISCONCEPTION = "percent"
TELL = "It would be right if utilisation were a percentage. It is a share: 0.4 for 40 %."


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak * utilisation / 100) / 86400
