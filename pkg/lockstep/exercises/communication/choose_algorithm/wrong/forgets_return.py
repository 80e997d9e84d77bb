"""The learner found the name and kept it."""

MISCONCEPTION = "wrong-type"
ALSO = ["prints"]


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
    best = min(times, key=times.get)
    print(best)
