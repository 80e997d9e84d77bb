"""The learner thought: the utilisation is what gets lost."""

MISCONCEPTION = "rest-of-utilisation"
TELL = "It would be right for 1 - utilisation. The devices reach the share utilisation of their peak; the rest is lost."


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak * (1 - utilisation)) / 86_400
