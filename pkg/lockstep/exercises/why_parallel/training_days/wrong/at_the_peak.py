"""The learner thought: a GPU computes at its peak."""

MISCONCEPTION = "ignores-utilisation"


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak) / 86400
