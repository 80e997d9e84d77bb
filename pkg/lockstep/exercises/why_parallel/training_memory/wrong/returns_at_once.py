"""The learner thought: return belongs into the loop."""

MISCONCEPTION = "first-only"
TELL = "Only the first kind of the recipe counts here. Does your loop return in its first turn?"


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    for dtype in recipe.values():
        return params * BYTES[dtype]
    return 0
