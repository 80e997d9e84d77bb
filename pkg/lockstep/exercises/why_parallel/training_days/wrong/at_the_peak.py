"""The learner thought: a GPU computes at its peak."""

MISCONCEPTION = "ignores-utilisation"
TELL = "It would be right if every device reached its peak. They reach the share utilisation of it."


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak) / 86400
