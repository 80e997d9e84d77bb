"""The learner thought: a / 24 * 60 * 60 divides by all three."""

MISCONCEPTION = "brackets"
TELL = (
    "a / b * c multiplies by c. Here the seconds are divided by 24 alone, and multiplied by 60 * 60: put brackets "
    "around the seconds of a day."
)


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak * utilisation) / 24 * 60 * 60
