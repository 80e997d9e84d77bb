"""The learner thought: FLOP divided by FLOP/s is the answer."""

MISCONCEPTION = "seconds-not-days"


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak * utilisation)
