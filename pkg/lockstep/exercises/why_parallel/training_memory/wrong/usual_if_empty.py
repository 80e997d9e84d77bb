"""The learner thought: an empty recipe means the usual one."""

MISCONCEPTION = "wrong-values"

SIZE = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}
USUAL = {"weights": "bfloat16", "gradients": "bfloat16", "momentum": "float32", "variance": "float32"}


def training_memory(params, recipe):
    return params * sum(SIZE[dtype] for dtype in (recipe or USUAL).values())
