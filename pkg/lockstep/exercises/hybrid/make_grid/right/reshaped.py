"""A table of all ranks, with each axis moved to the end in its turn."""

import math

import torch


def make_grid(ranks, sizes):
    known = math.prod(size or 1 for size in sizes)
    if ranks % known or (None not in sizes and known != ranks):
        return None
    slow_first = [size or ranks // known for size in reversed(sizes)]
    table = torch.arange(ranks).view(slow_first)
    rows = [table.movedim(-1 - axis, -1).reshape(-1, slow_first[-1 - axis]) for axis in range(len(sizes))]
    return [sorted(groups.tolist()) for groups in rows]
