"""The learner thought: each rank has its group."""

MISCONCEPTION = "group-for-each-rank"
TELL = "Each of your groups is there once for each of its ranks. List it once."

import math


def make_grid(ranks, sizes):
    known = math.prod(size for size in sizes if size is not None)
    if ranks % known or (None not in sizes and known != ranks):
        return None
    grid, stride = [], 1
    for size in sizes:
        size = ranks // known if size is None else size
        start = [rank - stride * (rank // stride % size) for rank in range(ranks)]
        grid.append([[rank + stride * i for i in range(size)] for rank in start])
        stride *= size
    return grid
