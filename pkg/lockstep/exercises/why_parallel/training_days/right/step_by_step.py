"""One quantity after the other."""

from datetime import timedelta


def training_days(params, tokens, devices, peak, utilisation):
    forward, backward = 2 * params * tokens, 4 * params * tokens
    rate = devices * peak * utilisation
    return (forward + backward) / rate / timedelta(days=1).total_seconds()
