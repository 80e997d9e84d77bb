"""The learner thought: both the devices and the peak are reduced by the utilisation."""

MISCONCEPTION = "utilisation-twice"
TELL = "This is divided by the utilisation once too often."


def training_days(params, tokens, devices, peak, utilisation):
    rate = peak * utilisation
    used = devices * utilisation
    return 6 * params * tokens / (used * rate) / 86400
