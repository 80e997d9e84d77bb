"""The learner thought: parameters and tokens both take work."""

MISCONCEPTION = "adds-tokens"


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * (params + tokens) / (devices * peak * utilisation) / 86_400
