"""The learner thought: the dtype of the weights is that of everything."""

MISCONCEPTION = "dtype-of-the-weights"
TELL = "Everything has the dtype of the weights here. The recipe says the dtype of each."


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    return params * len(recipe) * BYTES[recipe["weights"]]
