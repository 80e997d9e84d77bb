"""The learner thought: a tree sends to all at once."""

import math

MISCONCEPTION = "one-round-tree"
TELL = "Your choices are those of a tree with one round up and one down: it takes ceil(log2 K) each way."


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.ceil(math.log2(ranks))
    costs = {
        "ring": 2 * (ranks - 1) * (alpha + nbytes / ranks * beta),
        "tree": 2 * (alpha + nbytes * beta),
    }
    if ranks & (ranks - 1) == 0:
        costs["halving_doubling"] = 2 * rounds * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
        costs["recursive_doubling"] = rounds * (alpha + nbytes * beta)
    return min(costs, key=costs.get)
