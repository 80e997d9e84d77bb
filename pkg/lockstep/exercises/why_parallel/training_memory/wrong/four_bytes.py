"""The learner thought: a number has four bytes."""

MISCONCEPTION = "all-float32"
TELL = "Every number counts as 4 bytes here. The recipe says the dtype of each."


def training_memory(params, recipe):
    return 4 * params * len(recipe)
