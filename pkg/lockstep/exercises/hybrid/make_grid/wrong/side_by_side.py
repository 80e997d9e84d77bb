"""The learner thought: a group is always of neighbours."""

MISCONCEPTION = "side-by-side"
TELL = "Your groups are of neighbours on each axis. Only those of the fastest axis are."

import math


def make_grid(ranks, sizes):
    known = math.prod(size for size in sizes if size is not None)
    if ranks % known or (None not in sizes and known != ranks):
        return None
    grid, stride = [], 1
    for size in sizes:
        size = ranks // known if size is None else size
        first = range(0, ranks, size)
        grid.append([[rank + i for i in range(size)] for rank in first])
        stride *= size
    return grid
