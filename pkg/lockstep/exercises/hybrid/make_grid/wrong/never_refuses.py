"""The learner thought: whoever calls it gives sizes that fit."""

MISCONCEPTION = "never-refuses"
TELL = "You never return None: sizes that don't fit are taken as they are."

import math


def make_grid(ranks, sizes):
    known = math.prod(size for size in sizes if size is not None)
    grid, stride = [], 1
    for size in sizes:
        size = ranks // known if size is None else size
        first = [rank for rank in range(ranks) if rank // stride % size == 0]
        grid.append([[rank + stride * i for i in range(size)] for rank in first])
        stride *= size
    return grid
