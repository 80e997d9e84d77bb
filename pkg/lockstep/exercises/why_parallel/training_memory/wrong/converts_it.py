"""The learner thought: the names may be replaced by the bytes."""

MISCONCEPTION = "changes-the-recipe"
TELL = (
    "Whoever calls your function still needs the recipe: read it, with recipe.values(), and leave all in it as it is."
)


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    for kept in recipe:
        recipe[kept] = BYTES[recipe[kept]]
    return params * sum(recipe.values())
