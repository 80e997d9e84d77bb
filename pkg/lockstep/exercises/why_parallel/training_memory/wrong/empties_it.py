"""The learner thought: the dictionary is mine."""

MISCONCEPTION = "changes-the-recipe"
TELL = (
    "Whoever calls your function still needs the recipe: read it, with recipe.values(), and leave all in it as it is."
)


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    total = 0
    while recipe:
        _, dtype = recipe.popitem()
        total += params * BYTES[dtype]
    return total
