"""The learner thought: ranks at the same place on an axis share its group."""

MISCONCEPTION = "same-place"
TELL = "Your groups have the ranks at the same place on the axis. A group has those that differ on this axis alone."

import math


def make_grid(ranks, sizes):
    known = math.prod(size for size in sizes if size is not None)
    if ranks % known or (None not in sizes and known != ranks):
        return None
    grid, stride = [], 1
    for size in sizes:
        size = ranks // known if size is None else size
        grid.append([[rank for rank in range(ranks) if rank // stride % size == at] for at in range(size)])
        stride *= size
    return grid
