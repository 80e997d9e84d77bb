"""The learner thought: groups may come in any order."""

MISCONCEPTION = "order-of-groups"
TELL = "All groups are right, and not in the order of their lowest ranks."

import math


def make_grid(ranks, sizes):
    known = math.prod(size for size in sizes if size is not None)
    if ranks % known or (None not in sizes and known != ranks):
        return None
    grid, stride = [], 1
    for size in sizes:
        size = ranks // known if size is None else size
        first = [rank for rank in range(ranks) if rank // stride % size == 0]
        first.sort(key=lambda rank: (rank % stride, rank))
        grid.append([[rank + stride * i for i in range(size)] for rank in first])
        stride *= size
    return grid
