"""The learner thought: a recipe is for one parameter."""

MISCONCEPTION = "bytes-per-parameter"
TELL = "This is what each parameter takes: multiply it by their number."


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    return sum(BYTES[dtype] for dtype in recipe.values())
