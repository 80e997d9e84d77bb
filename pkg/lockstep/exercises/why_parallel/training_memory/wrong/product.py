"""The learner thought: sizes are multiplied."""

MISCONCEPTION = "bytes-multiplied"
TELL = (
    "Here the bytes of the kinds are multiplied with each other. They lie side by side: add them, and multiply "
    "the sum by params."
)


def training_memory(params, recipe):
    total = params
    for dtype in recipe.values():
        total *= {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}[dtype]
    return total
