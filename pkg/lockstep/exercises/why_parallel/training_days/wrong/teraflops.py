"""The learner thought: the peak of a GPU is given in TFLOP/s."""

MISCONCEPTION = "tera-twice"
TELL = "It would be right if peak were in TFLOP/s, 1e12 a second. It is in FLOP/s already."


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak * 1e12 * utilisation) / 86400
