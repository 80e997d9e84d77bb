"""The learner thought: two operations a parameter and token, at the peak."""

MISCONCEPTION = "forward-only"
TELL = (
    "This is what 2 FLOP for each parameter and token give, on devices at their peak: both the backward pass and "
    "the utilisation are missing."
)


def training_days(params, tokens, devices, peak, utilisation):
    return 2 * params * tokens / (devices * peak) / 86_400
