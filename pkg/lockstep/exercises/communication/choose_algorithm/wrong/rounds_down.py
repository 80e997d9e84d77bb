"""The learner counted rounds with int(math.log2(ranks)), which is right for powers of two."""

import math

MISCONCEPTION = "rounds-log2-down"
TELL = "Your choices are those of log2 K rounded down. 5 ranks need 3 rounds: round up, as in math.ceil(math.log2(ranks)) or (ranks - 1).bit_length()."


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = int(math.log2(ranks))
    moved = 2 * (ranks - 1) / ranks * nbytes * beta
    times = {
        "ring": 2 * (ranks - 1) * alpha + moved,
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if 2**rounds == ranks:
        times["halving_doubling"] = 2 * rounds * alpha + moved
        times["recursive_doubling"] = rounds * (alpha + nbytes * beta)
    return min(times, key=times.get)
