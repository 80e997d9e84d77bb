"""The learner thought: sizes fit if their product divides the ranks."""

MISCONCEPTION = "divides-is-enough"
TELL = "You accept sizes whose product only divides `ranks`. Without a None, it has to be `ranks`."

import math


def make_grid(ranks, sizes):
    known = math.prod(size for size in sizes if size is not None)
    if ranks % known:
        return None
    grid, stride = [], 1
    for size in sizes:
        size = ranks // known if size is None else size
        first = [rank for rank in range(ranks) if rank // stride % size == 0]
        grid.append([[rank + stride * i for i in range(size)] for rank in first])
        stride *= size
    return grid
