"""The learner thought: neighbours on an axis are as far apart as the axis before is long."""

MISCONCEPTION = "stride-of-one-axis"
TELL = "On your axes neighbours are as far apart as the axis before is long. All faster axes together give the stride: their product."

import math


def make_grid(ranks, sizes):
    known = math.prod(size for size in sizes if size is not None)
    if ranks % known or (None not in sizes and known != ranks):
        return None
    grid, stride = [], 1
    for size in sizes:
        size = ranks // known if size is None else size
        first = [rank for rank in range(ranks) if rank // stride % size == 0]
        grid.append([[rank + stride * i for i in range(size)] for rank in first])
        stride = size
    return grid
