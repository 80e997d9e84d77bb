"""The learner thought: how many layers each unit has."""

MISCONCEPTION = "wrong-values"


def choose_units(sizes, memory, ranks, alpha, beta, seconds):
    return [len(unit) for unit in [[0], list(range(1, len(sizes)))]]
