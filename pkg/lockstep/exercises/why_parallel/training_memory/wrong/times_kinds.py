"""The learner thought: so many kinds, each with the bytes of all."""

MISCONCEPTION = "kinds-twice"


def training_memory(params, recipe):
    sizes = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}
    return params * len(recipe) * sum(sizes[dtype] for dtype in recipe.values())
