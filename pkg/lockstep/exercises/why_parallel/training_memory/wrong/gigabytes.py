"""The learner thought: memory is told in GB."""

MISCONCEPTION = "gigabytes"
TELL = "These are GB, of 1e9 bytes: return bytes."


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    return params * sum(BYTES[dtype] for dtype in recipe.values()) / 1e9
