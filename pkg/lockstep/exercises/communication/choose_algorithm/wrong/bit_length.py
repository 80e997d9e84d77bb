"""The learner thought: bit_length is log2."""

MISCONCEPTION = "one-round-too-many"
TELL = "Your choices are those of one round too many for powers of two, as ranks.bit_length() gives: for 8 ranks it is 4. Take (ranks - 1).bit_length()."


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = ranks.bit_length()
    moved = 2 * (ranks - 1) / ranks * nbytes * beta
    times = {
        "ring": 2 * (ranks - 1) * alpha + moved,
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if ranks & (ranks - 1) == 0:
        times["halving_doubling"] = 2 * rounds * alpha + moved
        times["recursive_doubling"] = rounds * (alpha + nbytes * beta)
    return min(times, key=times.get)
