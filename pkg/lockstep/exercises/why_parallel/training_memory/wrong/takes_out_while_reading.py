"""The learner thought: what is counted may go."""

MISCONCEPTION = "crashed:RankRaised"
RAISES = "changed size during iteration"
TELL = "Leave the dictionary as it is: read it, with recipe.values(), and take nothing out."

BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2, "float8": 1, "int8": 1}


def training_memory(params, recipe):
    total = 0
    for kept in recipe:
        total += params * BYTES[recipe.pop(kept)]
    return total
