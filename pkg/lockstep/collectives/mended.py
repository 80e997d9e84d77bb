"""The three programs of ``broken.py``, mended: each breaks the circle of waiting in another way."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.collectives.exchange import exchange


def mend_ring_of_sends(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """Each rank gets its left neighbour's tensor: send and receive at once, and the circle turns.

    One message of N bytes per rank, one round. (Even ranks sending first, odd ranks receiving first, mends it too.)
    """
    r, K = dist.get_rank(group), dist.get_world_size(group)
    tensor = tensor.contiguous()
    received = torch.empty_like(tensor)
    exchange(tensor, (r + 1) % K, received, (r - 1) % K, group)
    return received


def mend_skipped_collective(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """The sum of those tensors whose elements sum to more than 0, on every rank.

    A collective needs every rank of the group: one that has nothing to give takes part with zeros. (Each rank decides
    by its own data, so no rank can know who would skip.)
    """
    total = tensor.clone(memory_format=torch.contiguous_format)
    if tensor.sum() <= 0:
        total.zero_()
    dist.all_reduce(total, group=group)
    return total


def mend_out_of_order_tags(
    first: Tensor, second: Tensor, group: dist.ProcessGroup | None = None
) -> tuple[Tensor, Tensor]:
    """Rank 1 gets both tensors of rank 0, written into its own; the other ranks keep theirs.

    Both sides take the messages in the same order. That is more robust than tags, which NCCL does not have.
    """
    if dist.get_world_size(group) > 1:
        for tensor in (first, second):
            _hand_over(tensor, group)
    return first, second


def _hand_over(tensor: Tensor, group: dist.ProcessGroup | None) -> None:
    if dist.get_rank(group) == 0:
        dist.send(tensor.contiguous(), group=group, group_dst=1)
    elif dist.get_rank(group) == 1:
        received = torch.empty_like(tensor, memory_format=torch.contiguous_format)
        dist.recv(received, group=group, group_src=0)
        tensor.copy_(received)
