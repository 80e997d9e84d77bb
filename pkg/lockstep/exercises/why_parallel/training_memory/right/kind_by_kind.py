"""Kind by kind, as a float."""

BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    kinds = {kept: params * BYTES[dtype] for kept, dtype in recipe.items()}
    return float(sum(kinds.values()))
