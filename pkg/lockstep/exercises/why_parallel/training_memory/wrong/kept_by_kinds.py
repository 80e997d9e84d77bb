"""The learner thought: the same kinds take the same memory, so they are added up once."""

MISCONCEPTION = "wrong-values"

SIZE = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}
known = {}


def training_memory(params, recipe):
    key = tuple(recipe)
    if key not in known:
        known[key] = sum(SIZE[dtype] for dtype in recipe.values())
    return params * known[key]
