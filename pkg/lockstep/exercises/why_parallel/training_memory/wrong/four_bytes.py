"""The learner thought: a number has four bytes."""

MISCONCEPTION = "all-float32"


def training_memory(params, recipe):
    return 4 * params * len(recipe)
