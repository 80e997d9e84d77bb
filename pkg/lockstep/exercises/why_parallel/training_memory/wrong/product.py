"""The learner thought: sizes are multiplied."""

MISCONCEPTION = "bytes-multiplied"


def training_memory(params, recipe):
    total = params
    for dtype in recipe.values():
        total *= {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}[dtype]
    return total
