"""The learner thought: what is neither 32 nor 16 bits is a byte."""

MISCONCEPTION = "wrong-values"


def training_memory(params, recipe):
    total = 0
    for dtype in recipe.values():
        if "32" in dtype:
            total += 4
        elif "16" in dtype:
            total += 2
        else:
            total += 1
    return params * total
