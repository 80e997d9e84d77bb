"""The learner thought: float32 is 32."""

MISCONCEPTION = "bits-not-bytes"
TELL = "These are bits: a byte has 8 of them, so float32 is 4 bytes."


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    return params * sum(8 * BYTES[dtype] for dtype in recipe.values())
