"""The learner thought: beta is seconds per bit."""

import math

MISCONCEPTION = "bits-not-bytes"
TELL = "Your choices are those of messages 8 times as long, as if nbytes were counted in bits."


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.ceil(math.log2(ranks))
    costs = {
        "ring": 2 * (ranks - 1) * (alpha + 8 * nbytes / ranks * beta),
        "tree": 2 * rounds * (alpha + 8 * nbytes * beta),
    }
    if ranks & (ranks - 1) == 0:
        costs["halving_doubling"] = 2 * rounds * alpha + 2 * (ranks - 1) / ranks * 8 * nbytes * beta
        costs["recursive_doubling"] = rounds * (alpha + 8 * nbytes * beta)
    return min(costs, key=costs.get)
