"""The messages of a stage: what stands together in its stream is posted at once.

Receives are waited for, since the next computation needs them. Sends are not, until the next messages are posted: so a
message travels while both of its ends compute.

Posted one by one, a send and a receive between the same two ranks can wait for each other for ever: NCCL carries them
out in order (``lockstep.comm.backend_rules``). Posted at once, they are one operation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch.distributed as dist
from torch import Tensor


class Message(NamedTuple):
    """``peer``: the other end's rank in the group. ``tag``: 0 for activations, 1 for gradients, which with two stages
    go between the same ranks."""

    tensor: Tensor
    peer: int
    tag: int
    receives: bool


class Mailbox:
    """Of one rank of ``group``."""

    def __init__(self, group: dist.ProcessGroup | None = None) -> None:
        self.group = group
        self.under_way = list[tuple[dist.Work, Tensor]]()

    def exchange(self, messages: Sequence[Message]) -> None:
        """When it returns, what is received is there."""
        self.settle()
        works = dist.batch_isend_irecv([self.operation(message) for message in messages])
        if len(works) < len(messages):  # NCCL has one for all of them
            works = works * len(messages)
        for message, work in zip(messages, works, strict=True):
            if message.receives:
                work.wait()
            else:
                self.under_way.append((work, message.tensor))

    def settle(self) -> None:
        """What was sent has left, and its memory is free."""
        for work, _ in self.under_way:
            work.wait()
        self.under_way.clear()

    def operation(self, message: Message) -> dist.P2POp:
        way = dist.irecv if message.receives else dist.isend
        return dist.P2POp(way, message.tensor, group=self.group, tag=message.tag, group_peer=message.peer)
