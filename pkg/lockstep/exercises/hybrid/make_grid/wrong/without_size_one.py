"""The learner thought: an axis of size 1 has no groups."""

MISCONCEPTION = "size-one-left-out"
TELL = "You leave out axes of size 1. There each rank is a group of its own."

import math


def make_grid(ranks, sizes):
    known = math.prod(size for size in sizes if size is not None)
    if ranks % known or (None not in sizes and known != ranks):
        return None
    grid, stride = [], 1
    for size in sizes:
        size = ranks // known if size is None else size
        if size == 1:
            continue
        first = [rank for rank in range(ranks) if rank // stride % size == 0]
        grid.append([[rank + stride * i for i in range(size)] for rank in first])
        stride *= size
    return grid
