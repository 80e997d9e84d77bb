"""The learner thought: a model is its weights."""

MISCONCEPTION = "weights-only"
TELL = (
    "Only the weights count here. Training keeps everything that the recipe lists: there are as many gradients as "
    "weights, and as many of each of the optimizer's numbers."
)


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    return params * BYTES[recipe["weights"]]
