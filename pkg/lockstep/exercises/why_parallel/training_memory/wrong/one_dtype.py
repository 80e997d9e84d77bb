"""The learner thought: the dtype of the weights is that of everything."""

MISCONCEPTION = "dtype-of-the-weights"


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    return params * len(recipe) * BYTES[recipe["weights"]]
