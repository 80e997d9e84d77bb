"""The learner forgot that halving-doubling needs a power of two."""

import math

MISCONCEPTION = "ignores-power-of-two"
TELL = "You choose one of the two doublings where the number of ranks is no power of two: they do not exist there."
VARIANTS = ["any_ranks_rounded_up", "any_ranks_rounded_down", "any_ranks_mixed"]


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.log2(ranks)
    costs = {
        "ring": 2 * (ranks - 1) * (alpha + nbytes / ranks * beta),
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if ranks > 0:
        costs["halving_doubling"] = 2 * rounds * alpha + 2 * (ranks - 1) / ranks * nbytes * beta
        costs["recursive_doubling"] = rounds * (alpha + nbytes * beta)
    return min(costs, key=costs.get)
