"""Three programs that hang. Run them, read the report, then see ``mended.py``.

Each may seem to work: with short messages MPI and NCCL copy a send into a buffer and go on ("eager"), so that the first
and the third get through until somebody makes the tensor larger. gloo never does: there, a send waits for its recv.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor


def ring_of_sends(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """Each rank wants its left neighbour's tensor. All send, so nobody receives: a circle of waiting."""
    r, K = dist.get_rank(group), dist.get_world_size(group)
    received = torch.empty_like(tensor)
    dist.send(tensor, group=group, group_dst=(r + 1) % K)
    dist.recv(received, group=group, group_src=(r - 1) % K)
    return received


def skipped_collective(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """The sum of those tensors whose elements sum to more than 0. The other ranks have nothing to give, and skip."""
    total = tensor.clone()
    if tensor.sum() > 0:
        dist.all_reduce(total, group=group)
    return total


def out_of_order_tags(first: Tensor, second: Tensor, group: dist.ProcessGroup | None = None) -> tuple[Tensor, Tensor]:
    """Rank 1 wants both tensors of rank 0. It asks for the second one first, while rank 0 offers the first."""
    if dist.get_rank(group) == 0:
        dist.send(first, group=group, group_dst=1, tag=1)
        dist.send(second, group=group, group_dst=1, tag=2)
    elif dist.get_rank(group) == 1:
        dist.recv(second, group=group, group_src=0, tag=2)
        dist.recv(first, group=group, group_src=0, tag=1)
    return first, second
