"""Halving-doubling where it exists; else ring or tree by the size at which they cross."""

from math import ceil, log2


def choose_algorithm(nbytes, ranks, alpha, beta):
    if log2(ranks).is_integer():
        return "halving_doubling"
    rounds = ceil(log2(ranks))
    saved_latency = (ranks - 1 - rounds) * alpha
    saved_bytes = (rounds - (ranks - 1) / ranks) * nbytes
    return "tree" if saved_bytes * beta < saved_latency else "ring"
