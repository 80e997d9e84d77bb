"""The groups of any mesh of ranks: for each axis, who shares a group with whom.

    sizes (2, 3), 6 ranks      rank = a + 2·b          axis 0: 0 1 | 2 3 | 4 5      axis 1: 0 2 4 | 1 3 5

Ranks are numbered with the first axis fastest, as in ``Grid`` (tp, cp, dp, pp): the neighbours on an axis are the
product of the faster axes apart. ``torch.distributed.device_mesh.init_device_mesh`` numbers with the last one fastest.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

Groups = list[list[int]]


def make_grid(ranks: int, sizes: Sequence[int | None]) -> list[Groups] | None:
    """For each axis the groups of ``ranks`` ranks, the one of the lowest rank first; a group's ranks are ascending.
    One size may be None: it is what the others leave. None where the sizes do not fit."""
    known = prod(size for size in sizes if size is not None)
    if ranks % known or (None not in sizes and known != ranks):
        return None
    filled = [ranks // known if size is None else size for size in sizes]
    grid, stride = list[Groups](), 1
    for size in filled:
        first = (r for r in range(ranks) if r // stride % size == 0)
        grid.append([[r + stride * i for i in range(size)] for r in first])
        stride *= size
    return grid
