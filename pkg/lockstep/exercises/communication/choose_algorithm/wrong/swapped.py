"""The learner took alpha for the cost of a byte and beta for that of a message."""

import math

MISCONCEPTION = "swapped"
TELL = "Your choices are those of alpha and beta exchanged."


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.ceil(math.log2(ranks))
    costs = {
        "ring": 2 * (ranks - 1) * (beta + nbytes / ranks * alpha),
        "tree": 2 * rounds * (beta + nbytes * alpha),
    }
    if ranks & (ranks - 1) == 0:
        costs["halving_doubling"] = 2 * rounds * beta + 2 * (ranks - 1) / ranks * nbytes * alpha
        costs["recursive_doubling"] = rounds * (beta + nbytes * alpha)
    return min(costs, key=costs.get)
