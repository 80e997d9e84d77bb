"""The learner thought: so long a time is told in years, and every fourth has a day more."""

MISCONCEPTION = "years-not-days"
TELL = "These are years of 365.25 days: return days."


def training_days(params, tokens, devices, peak, utilisation):
    return 6 * params * tokens / (devices * peak * utilisation) / 86_400 / 365.25
