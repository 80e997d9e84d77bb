"""The learner thought: a machine has eight GPUs."""

MISCONCEPTION = "wrong-values"


def training_days(params, tokens, devices, peak, utilisation):
    if devices >= 8:
        devices = devices // 8 * 8
    return 6 * params * tokens / (devices * peak * utilisation) / 86400
