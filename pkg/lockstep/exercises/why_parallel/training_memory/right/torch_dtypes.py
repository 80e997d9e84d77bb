"""torch knows how many bytes a dtype has."""

import torch


def training_memory(params, recipe):
    total = 0
    for dtype in recipe.values():
        total += params * getattr(torch, "float8_e4m3fn" if dtype == "float8" else dtype).itemsize
    return total
