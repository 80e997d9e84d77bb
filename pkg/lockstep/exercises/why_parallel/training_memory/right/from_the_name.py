"""The bits stand in the name."""


def training_memory(params, recipe):
    bits = [int("".join(c for c in dtype if c.isdigit())) for dtype in recipe.values()]
    return params * sum(bits) // 8
