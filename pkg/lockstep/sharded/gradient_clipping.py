"""Gradient clipping by the global norm, of all ranks' shards, and not by each rank's own.

    rank 0 has (3)    rank 1 has (4)    max_norm = 2.5

    each by its own norm    3 -> 2.5,  4 -> 2.5    another direction: (2.5, 2.5)
    by the global norm 5    3 -> 1.5,  4 -> 2      the same direction, of length 2.5

Each rank (1) sums the squares of its own numbers, (2) one all-reduce of that number adds those of all ranks, and (3)
all ranks scale by the same factor. Padding adds 0. A NaN anywhere makes the norm NaN on every rank.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import Tensor


def local_clipping(
    gradients: Sequence[Tensor], max_norm: float, group: dist.ProcessGroup | None = None
) -> list[Tensor]:
    """Wrong: each rank scales its shards by their own norm."""
    norm = torch.sqrt(torch.stack([(g**2).sum() for g in gradients]).sum())
    scale = torch.clamp(max_norm / norm, max=1.0)
    return [g * scale for g in gradients]


def mend_local_clipping(
    gradients: Sequence[Tensor], max_norm: float, group: dist.ProcessGroup | None = None
) -> list[Tensor]:
    """This rank's shards, scaled so that the norm of all ranks' shards is ``max_norm`` at most: new tensors."""
    squares = torch.stack([(g**2).sum() for g in gradients]).sum()  # (1)
    dist.all_reduce(squares, group=group)  # (2)
    scale = torch.clamp(max_norm / torch.sqrt(squares), max=1.0)  # (3)
    return [g * scale for g in gradients]
