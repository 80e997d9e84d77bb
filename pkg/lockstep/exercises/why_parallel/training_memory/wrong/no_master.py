"""The learner thought: the weights are kept once."""

MISCONCEPTION = "forgets-master"
TELL = (
    "The master weights are missing: beside weights in 16 bits, a second copy of them in float32 takes up the "
    "small steps."
)


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    return params * sum(BYTES[dtype] for kept, dtype in recipe.items() if kept != "master weights")
