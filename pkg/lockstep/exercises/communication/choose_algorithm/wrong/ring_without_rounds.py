"""The learner forgot the K-1 rounds of each trip."""

import math

MISCONCEPTION = "forgets-k-minus-one"


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.ceil(math.log2(ranks))
    costs = {
        "ring": 2 * (alpha + nbytes / ranks * beta),
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if ranks & (ranks - 1) == 0:
        costs["halving_doubling"] = 2 * rounds * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
    return min(costs, key=costs.get)
