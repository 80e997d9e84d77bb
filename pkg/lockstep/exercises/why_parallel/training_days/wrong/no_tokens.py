"""The learner thought: the parameters say how large a training is."""

MISCONCEPTION = "ignores-tokens"
TELL = "The tokens are missing: every token passes through the whole model."


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params / (devices * peak * utilisation) / 86_400
