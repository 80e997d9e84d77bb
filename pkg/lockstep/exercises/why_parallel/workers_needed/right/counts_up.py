"""One worker after the other, until it is enough."""


def workers_needed(hours, p, deadline):
    if hours <= deadline:
        return 1
    if deadline <= (1 - p) * hours:
        return None
    s = 1
    while hours * ((1 - p) + p / s) > deadline:
        s += 1
    return s
