"""Clipping by the global norm, where each rank has a shard of the gradient g.

    ‖g‖² = Σ over all ranks of ‖shard‖²        so one number of each rank is enough

    rank        0            1              each by its own norm, max_norm = 1: (0.6, 0.8) and (0, 1), another direction
    shard      (3, 4)       (0, 12)
    1. Σ g²     25           144
    2. sum     169          169             ‖g‖ = 13, one all-reduce of 8 bytes
    3. times   1/13         1/13            (3, 4, 0, 12)/13: the direction of g, and its length is 1

A NaN or an infinity in one shard is in the norm of all ranks: all of them can skip the step together. Padding with
zeros adds nothing. Squares are summed in float64: float32 has none above 3.4·10^38, the square of 1.8·10^19.

Source: Pascanu et al., On the difficulty of training recurrent neural networks, arXiv:1211.5063, Algorithm 1;
``torch.nn.utils.clip_grad_norm_`` is the same for whole gradients, with its ε = 10^-6.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import Tensor

EPSILON = 1e-6  # torch's: a norm of zero divides nothing


def global_norm(shards: Sequence[Tensor], group: dist.ProcessGroup | None = None) -> Tensor:
    """‖g‖ of which each rank of ``group`` has ``shards``, of any shapes: float64 without dimensions, the same on every
    rank. A rank without any shards gives ``[]`` and learns the norm too."""
    device = shards[0].device if shards else torch.device("cpu")
    squares = torch.zeros((), dtype=torch.float64, device=device)
    for shard in shards:
        squares += torch.linalg.vector_norm(shard, dtype=torch.float64).square()  # 1
    dist.all_reduce(squares, group=group)  # 2
    return squares.sqrt()


def clip_by_global_norm(shards: Sequence[Tensor], max_norm: float, group: dist.ProcessGroup | None = None) -> Tensor:
    """Shorten g to ``max_norm`` if it is longer: ``shards`` change in place. Returns the norm from before."""
    norm = global_norm(shards, group)
    factor = (max_norm / (norm + EPSILON)).clamp(max=1.0)
    for shard in shards:
        shard *= factor.to(shard.dtype)  # 3
    return norm
