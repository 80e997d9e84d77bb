"""The learner thought: 60 seconds, and that is the unit."""

MISCONCEPTION = "minutes-not-days"
TELL = "These are minutes: a day has 24 * 60 of them, or 24 * 60 * 60 seconds."


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak * utilisation) / 60
