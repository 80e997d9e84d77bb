"""The learner thought: memory is aligned, so the number of parameters is even."""

MISCONCEPTION = "wrong-values"

SIZE = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    params = (params + 1) // 2 * 2
    return params * sum(SIZE[dtype] for dtype in recipe.values())
