"""The learner thought: one gather pays alpha once."""

MISCONCEPTION = "one-unit"
TELL = "All layers are one unit: the whole model is on every rank at once."


def choose_units(sizes, memory, ranks, alpha, beta, seconds):
    return [list(range(len(sizes)))]
