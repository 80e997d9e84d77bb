"""The learner thought: each dtype has to be looked up once."""

MISCONCEPTION = "each-dtype-once"


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    return params * sum(BYTES[dtype] for dtype in set(recipe.values()))
