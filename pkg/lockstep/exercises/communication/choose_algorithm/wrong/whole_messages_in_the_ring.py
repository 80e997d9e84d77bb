"""The learner thought: each message of the ring has n bytes."""

import math

MISCONCEPTION = "whole-messages"
TELL = "Your choices are those of a ring whose messages all have n bytes: a chunk has n/K."


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.ceil(math.log2(ranks))
    moved = 2 * (ranks - 1) / ranks * nbytes * beta
    times = {
        "ring": 2 * (ranks - 1) * (alpha + nbytes * beta),
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if 2**rounds == ranks:
        times["halving_doubling"] = 2 * rounds * alpha + moved
        times["recursive_doubling"] = rounds * (alpha + nbytes * beta)
    return min(times, key=times.get)
