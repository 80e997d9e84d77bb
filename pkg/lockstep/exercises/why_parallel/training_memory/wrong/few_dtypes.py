"""The learner thought: the lesson has four dtypes."""

MISCONCEPTION = "crashed:RankRaised"
RAISES = r"^KeyError: '(b?float|int)\d+'"
TELL = "Your table has no such dtype. The lab lists six of them."

BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "int8": 1}


def training_memory(params, recipe):
    return params * sum(BYTES[dtype] for dtype in recipe.values())
