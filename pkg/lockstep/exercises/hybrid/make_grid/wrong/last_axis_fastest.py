"""The learner thought: neighbours differ on the last axis, as in a table of torch."""

MISCONCEPTION = "last-axis-fastest"
TELL = "Your last axis is the fastest one. Here it is the first: ranks 0 and 1 differ on it."

import math

import torch


def make_grid(ranks, sizes):
    known = math.prod(size or 1 for size in sizes)
    if ranks % known or (None not in sizes and known != ranks):
        return None
    sizes = [size or ranks // known for size in sizes]
    table = torch.arange(ranks).view(sizes)
    return [sorted(table.movedim(axis, -1).reshape(-1, size).tolist()) for axis, size in enumerate(sizes)]
