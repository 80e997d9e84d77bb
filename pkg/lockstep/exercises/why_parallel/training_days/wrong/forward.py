"""The learner thought: a parameter is multiplied and added once for every token."""

MISCONCEPTION = "forward-only"
TELL = (
    "This is what 2 FLOP for each parameter and token give: the forward pass alone. Training also runs backward, "
    "which takes 4 more."
)


def training_days(params, tokens, devices, peak, utilisation):
    return 2 * params * tokens / (devices * peak * utilisation) / 86400
