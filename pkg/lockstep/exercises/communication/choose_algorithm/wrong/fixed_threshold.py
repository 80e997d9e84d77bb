"""The learner thought: a megabyte is a long message, on every network."""

MISCONCEPTION = "fixed-threshold"


def choose_algorithm(nbytes, ranks, alpha, beta):
    if ranks & (ranks - 1) == 0:
        return "halving_doubling"
    return "tree" if nbytes < 1_000_000 else "ring"
