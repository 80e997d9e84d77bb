"""The best steps, and then the best weight of its own: better than equal weights."""

import math
from itertools import combinations


def best_mixing(ranks, degree):
    if ranks == 1:
        return [[1.0]]
    best = (2.0, 0.0, ())
    for n in range(1, degree // 2 + 2):
        for steps in combinations(range(1, ranks // 2 + 1), n):
            near = sorted({s for s in steps} | {ranks - s for s in steps})
            if len(near) > degree:
                continue
            waves = [sum(math.cos(2 * math.pi * k * s / ranks) for s in near) for k in range(1, ranks)]
            for own in [1 / (len(near) + 1), *(i / 200 for i in range(200))]:
                second = max(abs(own + (1 - own) * wave / len(near)) for wave in waves)
                best = min(best, (round(second, 12), own, tuple(near)))
    _, own, near = best
    return [
        [own if i == j else (1 - own) / len(near) if (j - i) % ranks in near else 0.0 for j in range(ranks)]
        for i in range(ranks)
    ]
