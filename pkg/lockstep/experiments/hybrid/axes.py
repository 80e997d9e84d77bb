"""Who shares a group with whom: by the learner's line, by ``hybrid.grid``, and by torch's DeviceMesh.

rank = tensor + tp·(data + dp·stage)         the learner's line is the inverse: the seat of a rank
ep folded into dp x tp                       dispatch goes among ep ranks that follow each other within a stage
"""

from __future__ import annotations

from collections.abc import Callable

import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

from lockstep.hybrid.grid import Grid
from lockstep.tables import Table
from lockstep.worlds import run

Line = Callable[[int, int, int], tuple[int, int, int]]
AXES = ("tp", "dp", "pp")
GRID = Grid(dp=2, tp=2, pp=2)
EP = 4


def by_line(line: Line, grid: Grid, axis: str, rank: int) -> tuple[int, ...]:
    """The ranks whose seats differ from that of ``rank`` on this axis only."""
    seats = {r: tuple(line(r, grid.tp, grid.dp)) for r in range(grid.ranks)}
    n = AXES.index(axis)
    others = seats[rank][:n] + seats[rank][n + 1 :]
    return tuple(r for r, seat in seats.items() if seat[:n] + seat[n + 1 :] == others)


def meshed(dp: int, tp: int, pp: int) -> dict[str, list[int]]:
    """Runs on each rank: its groups on torch's mesh, whose last dimension is the fastest."""
    mesh = init_device_mesh("cpu", (pp, dp, tp), mesh_dim_names=("pp", "dp", "tp"))
    return {axis: dist.get_process_group_ranks(mesh.get_group(axis)) for axis in AXES}


def groups_table(line: Line, rank: int = 5, on: str = "dgx-a100") -> Table:
    """One rank's groups, in three ways."""
    torchs = run(meshed, GRID.dp, GRID.tp, GRID.pp, ranks=GRID.ranks, on=on).values[rank]
    rows = []
    for axis in AXES:
        ours = GRID.group(axis, rank)
        rows.append([axis, *(told(ranks) for ranks in (by_line(line, GRID, axis, rank), ours, torchs[axis]))])
    rows.append([f"ep {EP}, folded", "", told(folded(GRID, EP, rank)), ""])
    head = [f"rank {rank} of {GRID.ranks}", "by your line", "hybrid.grid", "torch's DeviceMesh"]
    return Table("Its groups on a mesh of tp 2, dp 2, pp 2", head, rows)


def folded(grid: Grid, ep: int, rank: int) -> tuple[int, ...]:
    """The expert-parallel group of a rank: ``ep`` ranks that follow each other in its stage. ``ep`` divides tp·dp."""
    first = rank // ep * ep
    return tuple(range(first, first + ep))


def told(ranks: tuple[int, ...] | list[int]) -> str:
    return ", ".join(map(str, ranks))


def number_of_groups(grid: Grid) -> int:
    """Groups of more than one rank on all axes."""
    found = {(axis, grid.group(axis, rank)) for axis in AXES for rank in range(grid.ranks)}
    return sum(len(ranks) > 1 for _, ranks in found)
