"""The learner thought: the tokens are 20 for each parameter, whatever is given."""

MISCONCEPTION = "ignores-tokens"
TELL = "It would be right for 20 tokens of each parameter. How many tokens the training reads is given: tokens."


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * 20 * params / (devices * peak * utilisation) / 86_400
