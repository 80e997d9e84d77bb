"""The learner thought: a day is 24 times 60 seconds."""

MISCONCEPTION = "minutes-not-days"
TELL = "It would be right if a day had 24 * 60 seconds. These are its minutes, of 60 seconds each."


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak * utilisation) / (24 * 60)
