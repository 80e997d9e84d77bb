"""The learner thought: whatever is trained has gradients, so every recipe lists them."""

MISCONCEPTION = "crashed:RankRaised"
RAISES = r"^KeyError: '[a-z ]+'"
TELL = (
    "Is that a key of the recipe? No recipe has all of them; or did an earlier call of yours take it out? The dtypes are "
    "the values: go through recipe.values(), and change nothing."
)


BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    total = params * BYTES[recipe["gradients"]]
    for kept, dtype in recipe.items():
        if kept != "gradients":
            total += params * BYTES[dtype]
    return total
