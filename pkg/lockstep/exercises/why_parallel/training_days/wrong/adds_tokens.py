"""The learner thought: parameters and tokens both take work."""

MISCONCEPTION = "adds-tokens"
TELL = "It would be right for parameters plus tokens. Every token passes through every parameter: multiply."


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * (params + tokens) / (devices * peak * utilisation) / 86_400
