"""The learner thought: for many ranks (K-1)/K is as good as 1, so each rank sends the tensor twice."""

import math

MISCONCEPTION = "own-chunk-travels"
TELL = "Your choices are those of 2·n bytes for each rank. Of K chunks one is its own and does not travel: 2(K-1)/K·n."


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.ceil(math.log2(ranks))
    moved = 2 * nbytes * beta
    times = {
        "ring": 2 * (ranks - 1) * alpha + moved,
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if 2**rounds == ranks:
        times["halving_doubling"] = 2 * rounds * alpha + moved
        times["recursive_doubling"] = rounds * (alpha + nbytes * beta)
    return min(times, key=times.get)
