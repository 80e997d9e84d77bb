"""What the algorithms of this package share: exchange two messages, flatten a tensor, find a rank within a group."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch.distributed as dist
from torch import Tensor

from lockstep.errors import UsageError


def exchange(outgoing: Tensor, to: int, incoming: Tensor, origin: int, group: dist.ProcessGroup | None = None) -> None:
    """Send ``outgoing`` to rank ``to`` and receive ``incoming`` from rank ``origin``, both at once (MPI_Sendrecv).

    ``to`` and ``origin`` are ranks of ``group``. Two blocking calls would deadlock: a send waits until the other side
    receives, so ranks that all send first wait for ever. The two are posted as one batch because NCCL executes the
    operations between two ranks in the order in which they were posted. A message to oneself is a copy.
    """
    if to == origin == dist.get_rank(group):
        incoming.copy_(outgoing)
        return
    posted = [
        dist.P2POp(dist.isend, outgoing, group=group, group_peer=to),
        dist.P2POp(dist.irecv, incoming, group=group, group_peer=origin),
    ]
    for work in dist.batch_isend_irecv(posted):
        work.wait()


@contextmanager
def flat(tensor: Tensor) -> Iterator[Tensor]:
    """The elements of ``tensor`` in one contiguous row, shape ``(numel,)``; writes to it reach ``tensor``.

    A message must be contiguous. For a contiguous tensor the row is a view; otherwise it is a copy, written back at the
    end.
    """
    row = tensor.detach().contiguous().view(-1)
    yield row
    if not tensor.is_contiguous():
        tensor.detach().copy_(row.view_as(tensor))


def group_rank(rank: int, group: dist.ProcessGroup | None = None) -> int:
    """The rank within ``group`` of a global rank. UsageError if it is not a member."""
    if group is None and 0 <= rank < dist.get_world_size():
        return rank
    members = dist.get_process_group_ranks(group)
    if rank not in members:
        raise UsageError(
            f"Rank {rank} is not in this group, whose ranks are {', '.join(map(str, members))}.",
            "src and dst are global ranks, also within a group: choose one of these.",
        )
    return members.index(rank)
