"""The learner rounded up, and thought that halving and doubling then works for every number of ranks."""

import math

MISCONCEPTION = "ignores-power-of-two"
TELL = "You choose one of the two doublings where the number of ranks is no power of two: they do not exist there."
VARIANTS = ["any_ranks", "any_ranks_rounded_down", "any_ranks_mixed"]


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.ceil(math.log2(ranks))
    moved = 2 * (ranks - 1) / ranks * nbytes * beta
    times = {
        "ring": 2 * (ranks - 1) * alpha + moved,
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if ranks > 1:
        times["halving_doubling"] = 2 * rounds * alpha + moved
        times["recursive_doubling"] = rounds * (alpha + nbytes * beta)
    return min(times, key=times.get)
