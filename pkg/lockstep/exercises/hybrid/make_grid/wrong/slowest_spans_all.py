"""The learner thought: each axis but the first spans all ranks."""

MISCONCEPTION = "spans-all"
TELL = "Each of your axes but the first spans all ranks. Only the last one does; on those between, a group spans the stride times the size."

import math


def make_grid(ranks, sizes):
    known = math.prod(size for size in sizes if size is not None)
    if ranks % known or (None not in sizes and known != ranks):
        return None
    grid, stride = [], 1
    for size in sizes:
        size = ranks // known if size is None else size
        stride = 1 if stride == 1 else ranks // size
        first = [rank for rank in range(ranks) if rank // stride % size == 0]
        grid.append([[rank + stride * i for i in range(size)] for rank in first])
        stride *= size
    return grid
