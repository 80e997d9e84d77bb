"""The learner thought: numpy's float32 holds any number."""

import numpy as np

MISCONCEPTION = "single-precision"


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    return float(np.float32(params) * np.float32(sum(BYTES[dtype] for dtype in recipe.values())))
