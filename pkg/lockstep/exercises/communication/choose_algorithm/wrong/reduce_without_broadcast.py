"""The learner counted the tree once: the reduce, and no broadcast."""

import math

MISCONCEPTION = "one-way-tree"
TELL = (
    "Your choices are those of a tree that goes one way: an all-reduce goes up and down, 2 times ceil(log2 K) rounds."
)


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = math.ceil(math.log2(ranks))
    moved = 2 * (ranks - 1) / ranks * nbytes * beta
    times = {
        "ring": 2 * (ranks - 1) * alpha + moved,
        "tree": rounds * (alpha + nbytes * beta),
    }
    if 2**rounds == ranks:
        times["halving_doubling"] = 2 * rounds * alpha + moved
        times["recursive_doubling"] = rounds * (alpha + nbytes * beta)
    return min(times, key=times.get)
