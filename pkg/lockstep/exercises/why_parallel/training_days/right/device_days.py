"""First the days of one device, then shared out."""


def training_days(params, tokens, devices, peak, utilisation):
    flop_a_day = 24 * 3600 * peak * utilisation
    return 6 * params * tokens / flop_a_day / devices
