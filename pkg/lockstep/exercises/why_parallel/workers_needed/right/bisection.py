"""By bisection between 1 and a number that is enough."""


def workers_needed(hours, p, deadline):
    def late(s):
        return hours * ((1 - p) + p / s) > deadline

    if not late(1):
        return 1
    if (1 - p) * hours >= deadline:
        return None
    low, high = 0, 1
    while late(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if late(middle) else (low, middle)
    return high
