"""The learner rounded the rounds of the tree up, as in the table, and gave halving and doubling log2 K for any K."""

import math

MISCONCEPTION = "ignores-power-of-two"
TELL = "You choose one of the two doublings where the number of ranks is no power of two: they do not exist there."
VARIANTS = ["any_ranks", "any_ranks_rounded_up", "any_ranks_rounded_down"]


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.ceil(math.log2(ranks))
    moved = 2 * (ranks - 1) / ranks * nbytes * beta
    times = {
        "ring": 2 * (ranks - 1) * alpha + moved,
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    times["halving_doubling"] = 2 * math.log2(ranks) * alpha + moved
    times["recursive_doubling"] = math.log2(ranks) * (alpha + nbytes * beta)
    return min(times, key=times.get)
