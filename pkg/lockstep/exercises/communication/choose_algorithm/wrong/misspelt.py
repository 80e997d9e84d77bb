"""The learner spelled the name as in a text."""

MISCONCEPTION = "misspelt-name"
TELL = '"halving-doubling" is none of the four names: write "halving_doubling".'


def choose_algorithm(nbytes, ranks, alpha, beta):
    rounds = (ranks - 1).bit_length()
    moved = 2 * (ranks - 1) / ranks * nbytes * beta
    times = {
        "ring": 2 * (ranks - 1) * alpha + moved,
        "tree": 2 * rounds * (alpha + nbytes * beta),
    }
    if 2**rounds == ranks:
        times["halving-doubling"] = 2 * rounds * alpha + moved
        times["recursive_doubling"] = rounds * (alpha + nbytes * beta)
    return min(times, key=times.get)
