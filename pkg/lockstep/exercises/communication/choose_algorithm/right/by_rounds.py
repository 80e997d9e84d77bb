"""Adds up the rounds one by one."""


def choose_algorithm(nbytes, ranks, alpha, beta):
    def time(sizes):
        return sum(alpha + n * beta for n in sizes)

    distances = [2**i for i in range(ranks) if 2**i < ranks]
    halves = [nbytes * d / ranks for d in distances]
    candidates = [
        (time([nbytes / ranks] * (2 * ranks - 2)), "ring"),
        (time([nbytes] * 2 * len(distances)), "tree"),
    ]
    if 2 ** len(distances) == ranks:
        candidates.append((time(halves + halves), "halving_doubling"))
        candidates.append((time([nbytes] * len(distances)), "recursive_doubling"))
    return min(candidates)[1]
