"""The learner thought: what follows "float" is the number of bits."""

MISCONCEPTION = "crashed:RankRaised"
RAISES = "invalid literal for int"
TELL = (
    "The names are of different lengths: float8, bfloat16. A dictionary from name to bytes is simpler than taking them "
    "apart."
)


def training_memory(params, recipe):
    return params * sum(int(dtype[5:]) // 8 for dtype in recipe.values())
