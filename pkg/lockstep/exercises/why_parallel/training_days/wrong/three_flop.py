"""The learner thought: one operation forward, two backward."""

MISCONCEPTION = "half-the-flops"
TELL = (
    "This is what 3 FLOP for each parameter and token give. A multiplication and an addition are two: 2 forward, "
    "4 backward."
)


def training_days(params, tokens, devices, peak, utilisation):
    return 3 * params * tokens / (devices * peak * utilisation) / 86_400
