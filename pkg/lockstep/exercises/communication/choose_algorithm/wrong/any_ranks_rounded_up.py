"""The learner rounded up, and thought that halving and doubling then works for every number of ranks."""

import math

MISCONCEPTION = "ignores-power-of-two"


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.ceil(math.log2(ranks))
    moved = 2 * (ranks - 1) / ranks * nbytes * beta
    times = {
        "ring": 2 * (ranks - 1) * alpha + moved,
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if ranks > 1:
        times["halving_doubling"] = 2 * rounds * alpha + moved
    return min(times, key=times.get)
