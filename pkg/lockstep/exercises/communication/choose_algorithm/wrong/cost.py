"""The learner returned the least time itself."""

MISCONCEPTION = "wrong-type"


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = (ranks - 1).bit_length()
    moved = 2 * (ranks - 1) / ranks * nbytes * beta
    times = {
        "ring": 2 * (ranks - 1) * alpha + moved,
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if 2**rounds == ranks:
        times["halving_doubling"] = 2 * rounds * alpha + moved
        times["recursive_doubling"] = rounds * (alpha + nbytes * beta)
    return min(times.values())
