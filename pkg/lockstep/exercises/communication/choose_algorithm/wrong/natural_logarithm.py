"""The learner wrote math.log."""

import math

MISCONCEPTION = "natural-logarithm"
TELL = "Your choices are those of the natural logarithm, math.log: take math.log2, rounded up."


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.log(ranks)
    moved = 2 * (ranks - 1) / ranks * nbytes * beta
    times = {
        "ring": 2 * (ranks - 1) * alpha + moved,
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if ranks & (ranks - 1) == 0:
        times["halving_doubling"] = 2 * rounds * alpha + moved
        times["recursive_doubling"] = rounds * (alpha + nbytes * beta)
    return min(times, key=times.get)
