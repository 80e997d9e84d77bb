"""The learner thought: the kinds of the lesson are all there are."""

MISCONCEPTION = "kinds-by-name"
TELL = (
    "Only the kinds that the lesson names are counted. A recipe may list others, such as a moving average of the "
    "weights: go through whatever it lists."
)


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    kinds = ("weights", "gradients", "master weights", "momentum", "variance")
    return params * sum(BYTES[recipe[k]] for k in kinds if k in recipe)
