"""The learner thought: the utilisation is a factor."""

MISCONCEPTION = "multiplies-utilisation"
TELL = (
    "It would be right for devices at their peak, times the utilisation. The lower the utilisation, the longer "
    "the training: divide by it."
)


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak) * utilisation / 86400
