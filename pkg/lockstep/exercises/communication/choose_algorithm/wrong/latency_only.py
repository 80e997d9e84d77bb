"""The learner thought: only rounds cost."""

MISCONCEPTION = "latency-only"
TELL = "Your choices are those of a network where beta is 0: bytes cost time too."


def choose_algorithm(nbytes, ranks, alpha, beta):
    return "recursive_doubling" if ranks & (ranks - 1) == 0 else "tree"
