"""The learner thought: what is left is ranks // known."""

MISCONCEPTION = "rest-rounded"
TELL = "You round what is left for None. Where the other sizes don't divide `ranks`, None is wanted."

import math


def make_grid(ranks, sizes):
    known = math.prod(size for size in sizes if size is not None)
    if None not in sizes and known != ranks:
        return None
    grid, stride = [], 1
    for size in sizes:
        size = ranks // known if size is None else size
        first = [rank for rank in range(ranks) if rank // stride % size == 0]
        grid.append([[rank + stride * i for i in range(size)] for rank in first])
        stride *= size
    return grid
