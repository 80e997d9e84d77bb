"""The learner thought: a / b * c divides by both."""

MISCONCEPTION = "brackets"
TELL = (
    "a / b * c multiplies by c. Here the work is divided by devices alone, and multiplied by peak and "
    "utilisation: put brackets around devices * peak * utilisation."
)


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / devices * peak * utilisation / 86400
