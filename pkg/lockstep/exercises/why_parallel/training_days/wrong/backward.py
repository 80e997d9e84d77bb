"""The learner thought: training is the backward pass."""

MISCONCEPTION = "backward-only"
TELL = "This is what 4 FLOP for each parameter and token give: the backward pass alone. The forward pass takes 2 more."


def training_days(params, tokens, devices, peak, utilisation):
    return 4 * params * tokens / (devices * peak * utilisation) / 86_400
