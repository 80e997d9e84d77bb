"""The learner thought: the list is mine."""

MISCONCEPTION = "changes-sizes"
TELL = "You fill in the missing size in the list that you were given. Make a new one."

import math


def make_grid(ranks, sizes):
    known = math.prod(size for size in sizes if size is not None)
    if ranks % known or (None not in sizes and known != ranks):
        return None
    grid, stride = [], 1
    for axis, size in enumerate(sizes):
        sizes[axis] = size or ranks // known
    for size in sizes:
        size = ranks // known if size is None else size
        first = [rank for rank in range(ranks) if rank // stride % size == 0]
        grid.append([[rank + stride * i for i in range(size)] for rank in first])
        stride *= size
    return grid
