"""From the speedup that is needed: 1/S = (1-p) + p/s, solved for s."""

import math


def workers_needed(hours, p, deadline):
    if hours <= deadline:
        return 1
    share = deadline / hours - (1 - p)
    if share <= 0:
        return None
    return max(1, math.ceil(p / share))
