"""The learner thought: training needs the weights and their gradients."""

MISCONCEPTION = "forgets-optimizer"
TELL = (
    "Only weights and gradients count here. The optimizer keeps numbers of its own for every parameter: add all "
    "that the recipe lists."
)


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    return params * (BYTES[recipe["weights"]] + BYTES[recipe["gradients"]])
