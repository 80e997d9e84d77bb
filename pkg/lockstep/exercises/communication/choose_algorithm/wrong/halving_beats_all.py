"""The learner thought: halving-doubling has few rounds and few bytes, so nothing beats it where it exists."""

import math

MISCONCEPTION = "never-recursive-doubling"
TELL = (
    "You never choose recursive doubling. For a short message it wins: it has half the rounds of halving and doubling."
)


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.ceil(math.log2(ranks))
    moved = 2 * (ranks - 1) / ranks * nbytes * beta
    times = {
        "ring": 2 * (ranks - 1) * alpha + moved,
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if 2**rounds == ranks:
        times["halving_doubling"] = 2 * rounds * alpha + moved
    return min(times, key=times.get)
