"""The learner thought: a megabyte is a long message, on every network."""

MISCONCEPTION = "fixed-threshold"
TELL = "Your choices are those of a limit in bytes, the same for every network. Where the algorithms cross depends on alpha, beta and K."


def choose_algorithm(nbytes, ranks, alpha, beta):
    if ranks & (ranks - 1) == 0:
        return "recursive_doubling" if nbytes < 1_000_000 else "halving_doubling"
    return "tree" if nbytes < 1_000_000 else "ring"
