"""The learner thought: only rounds cost."""

MISCONCEPTION = "latency-only"


def choose_algorithm(nbytes, ranks, alpha, beta):
    return "halving_doubling" if ranks & (ranks - 1) == 0 else "tree"
