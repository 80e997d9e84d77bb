"""Halving-doubling where it exists; else ring or tree by the size at which they cross."""

from math import ceil, log2


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = ceil(log2(ranks))
    if log2(ranks).is_integer():
        longer = (rounds - 2 * (ranks - 1) / ranks) * nbytes * beta
        return "recursive_doubling" if longer < rounds * alpha else "halving_doubling"
    saved_latency = (ranks - 1 - rounds) * alpha
    saved_bytes = (rounds - (ranks - 1) / ranks) * nbytes
    return "tree" if saved_bytes * beta < saved_latency else "ring"
