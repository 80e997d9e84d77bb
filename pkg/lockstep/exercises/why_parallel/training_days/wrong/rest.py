"""The learner thought: the utilisation is what gets lost."""

MISCONCEPTION = "rest-of-utilisation"


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak * (1 - utilisation)) / 86_400
