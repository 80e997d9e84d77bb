"""The learner thought: each dtype has to be looked up once."""

MISCONCEPTION = "each-dtype-once"
TELL = (
    "Every dtype counts once here. Two kinds with the same dtype both count: a set, or a dictionary by dtype, "
    "keeps one of them."
)


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    return params * sum(BYTES[dtype] for dtype in set(recipe.values()))
