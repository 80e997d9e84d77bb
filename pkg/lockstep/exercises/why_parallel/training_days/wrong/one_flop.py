"""The learner thought: each parameter and token is one operation."""

MISCONCEPTION = "one-flop"
TELL = "This is what one FLOP for each parameter and token gives. It takes 6 of them: 2 forward, 4 backward."


def training_days(params, tokens, devices, peak, utilisation):
    return params * tokens / (devices * peak * utilisation) / 86400
