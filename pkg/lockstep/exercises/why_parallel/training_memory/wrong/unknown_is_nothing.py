"""The learner thought: get never fails."""

MISCONCEPTION = "wrong-values"


def training_memory(params, recipe):
    sizes = {"float32": 4, "bfloat16": 2, "float16": 2}
    return params * sum(sizes.get(dtype, 0) for dtype in recipe.values())
