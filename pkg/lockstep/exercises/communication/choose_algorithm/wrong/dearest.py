"""The learner took the maximum."""

import math

MISCONCEPTION = "picks-dearest"
TELL = "You choose the slowest: take the minimum."


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.ceil(math.log2(ranks))
    costs = {
        "ring": 2 * (ranks - 1) * (alpha + nbytes / ranks * beta),
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if ranks & (ranks - 1) == 0:
        costs["halving_doubling"] = 2 * rounds * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
        costs["recursive_doubling"] = rounds * (alpha + nbytes * beta)
    return max(costs, key=costs.get)
