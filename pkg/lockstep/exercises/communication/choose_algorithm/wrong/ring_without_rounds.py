"""The learner forgot the K-1 rounds of each trip."""

import math

MISCONCEPTION = "always-ring"
TELL = 'You always answer "ring". With many ranks and short messages its 2(K-1) rounds cost too much: count each of them with its alpha.'
VARIANTS = ["always_ring"]


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.ceil(math.log2(ranks))
    costs = {
        "ring": 2 * (alpha + nbytes / ranks * beta),
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if ranks & (ranks - 1) == 0:
        costs["halving_doubling"] = 2 * rounds * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
        costs["recursive_doubling"] = rounds * (alpha + nbytes * beta)
    return min(costs, key=costs.get)
