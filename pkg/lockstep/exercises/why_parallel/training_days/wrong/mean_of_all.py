"""The learner thought: the utilisation of a large training is 0.4."""

MISCONCEPTION = "ignores-utilisation"
TELL = "It would be right for a utilisation of 0.4. It is given: utilisation."


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak * 0.4) / 86_400
