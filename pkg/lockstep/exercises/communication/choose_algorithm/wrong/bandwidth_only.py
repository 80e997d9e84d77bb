"""The learner thought: only bytes cost."""

MISCONCEPTION = "bandwidth-only"


def choose_algorithm(nbytes, ranks, alpha, beta):
    return "halving_doubling" if ranks & (ranks - 1) == 0 else "ring"
