"""The learner thought: FSDP wraps each layer by itself."""

MISCONCEPTION = "one-each"
TELL = "Each layer is a unit of its own. That takes the least memory and pays alpha most often: put small neighbours together."


def choose_units(sizes, memory, ranks, alpha, beta, seconds):
    return [[i] for i in range(len(sizes))]
