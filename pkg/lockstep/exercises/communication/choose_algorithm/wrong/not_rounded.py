"""The learner took log2 of the ranks as it is."""

import math

MISCONCEPTION = "log2-not-rounded"
TELL = "Your choices are those of log2 K as it is. There are whole rounds only: round it up."


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.log2(ranks)
    moved = 2 * (ranks - 1) / ranks * nbytes * beta
    times = {
        "ring": 2 * (ranks - 1) * alpha + moved,
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if rounds == int(rounds):
        times["halving_doubling"] = 2 * rounds * alpha + moved
        times["recursive_doubling"] = rounds * (alpha + nbytes * beta)
    return min(times, key=times.get)
