"""The learner thought: the ring is optimal."""

MISCONCEPTION = "always-ring"


def choose_algorithm(nbytes, ranks, alpha, beta):
    return "ring"
