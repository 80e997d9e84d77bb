"""The learner thought: only bytes cost."""

MISCONCEPTION = "bandwidth-only"
TELL = "Your choices are those of a network where alpha is 0: each round costs alpha, however short its message."


def choose_algorithm(nbytes, ranks, alpha, beta):
    return "halving_doubling" if ranks & (ranks - 1) == 0 else "ring"
