"""The learner thought: a day is 24 times 60 seconds."""

MISCONCEPTION = "minutes-not-days"


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak * utilisation) / (24 * 60)
