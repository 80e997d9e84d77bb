"""The learner thought: FLOP divided by FLOP/s is the answer."""

MISCONCEPTION = "seconds-not-days"
TELL = "These are seconds: a day has 24 * 60 * 60 of them."


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak * utilisation)
