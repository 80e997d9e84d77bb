"""The learner thought: the dictionary is mine."""

MISCONCEPTION = "changes-the-recipe"
TELL = (
    "Your function empties the dictionary that it is given: whoever calls it still needs its recipe. Read it, "
    "with recipe.values(), and take nothing out."
)


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    total = 0
    while recipe:
        _, dtype = recipe.popitem()
        total += params * BYTES[dtype]
    return total
