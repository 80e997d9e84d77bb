"""The learner thought: an hour has 3,600 seconds, and that is the unit."""

MISCONCEPTION = "hours-not-days"
TELL = "These are hours: a day has 24 of them, or 24 * 60 * 60 seconds."


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak * utilisation) / 3600
