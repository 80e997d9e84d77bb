"""The learner thought: every device takes its time."""

MISCONCEPTION = "multiplies-devices"
TELL = "This is the time of one device, times devices. More devices take less time: divide by them."


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens * devices / (peak * utilisation) / 86_400
