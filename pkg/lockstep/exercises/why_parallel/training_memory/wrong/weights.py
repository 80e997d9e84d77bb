"""The learner thought: a model is its weights."""

MISCONCEPTION = "weights-only"


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    return params * BYTES[recipe["weights"]]
