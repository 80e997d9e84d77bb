"""The learner thought: a total grows by being assigned."""

MISCONCEPTION = "last-only"
TELL = "Only the last kind of the recipe counts here. Is there a = in your loop where += is meant?"


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    total = 0
    for dtype in recipe.values():
        total = params * BYTES[dtype]
    return total
