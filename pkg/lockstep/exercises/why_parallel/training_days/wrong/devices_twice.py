"""The learner thought: the work is shared out, and so is its rate."""

MISCONCEPTION = "devices-twice"
TELL = "This is divided by devices once too often."


def training_days(params, tokens, devices, peak, utilisation):
    of_each = 6 * params * tokens / devices
    return of_each / (devices * peak * utilisation) / 86_400
