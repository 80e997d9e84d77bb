"""The learner thought: so many kinds, each with the bytes of all."""

MISCONCEPTION = "kinds-twice"
TELL = "Here the sum of all kinds is multiplied by their number as well. Once is enough."


def training_memory(params, recipe):
    sizes = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}
    return params * len(recipe) * sum(sizes[dtype] for dtype in recipe.values())
