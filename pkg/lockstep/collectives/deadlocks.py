"""Three programs that deadlock, and the same three fixed: each breaks the cycle of waiting in another way.

Run one of the three, read the report, fix it, and only then see its ``mend_...`` below.

Each may seem to work: MPI and NCCL copy short messages into a buffer and return from the send at once ("eager"), so
that the first and the third get through until somebody makes the tensor larger. gloo never does: there, a send waits
for its recv.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.collectives.exchange import exchange

# ---- with a deadlock


def ring_of_sends(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """Each rank wants its left neighbour's tensor. All send, so none receives: a cycle of waiting."""
    r, K = dist.get_rank(group), dist.get_world_size(group)
    received = torch.empty_like(tensor)
    dist.send(tensor, group=group, group_dst=(r + 1) % K)
    dist.recv(received, group=group, group_src=(r - 1) % K)
    return received


def skipped_collective(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """The sum of those tensors whose elements sum to more than 0. The other ranks contribute nothing, and skip it."""
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


# ---- without


def mend_ring_of_sends(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """Each rank gets its left neighbour's tensor: it sends and receives at once, so no rank waits for another to begin.

    One message of N bytes per rank, one round. (Even ranks sending first and odd ranks receiving first works, too.)
    """
    r, K = dist.get_rank(group), dist.get_world_size(group)
    tensor = tensor.contiguous()
    received = torch.empty_like(tensor)
    exchange(tensor, (r + 1) % K, received, (r - 1) % K, group)
    return received


def mend_skipped_collective(tensor: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """The sum of those tensors whose elements sum to more than 0, on every rank.

    A collective needs every rank of the group: a rank with nothing to contribute takes part with zeros. (Each rank
    decides by its own data, so no rank can know which others would skip.)
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
