"""1F1B with blocking sends, and the deadlock that follows: who sends first?

    stage 0   F0 ─ sends y1 ──────▶ waits for stage 1 to receive it
    stage 1   B0 ─ sends dx0 ◀───── waits for stage 0 to receive it        each sends, none receives

In the steady state, a stage has an activation for the next stage at the same time as that one has a gradient for it. A
blocking send may not return before its receive begins, so both wait. The cure is to post the two messages that cross
between neighbours as one batch (1), together with the next one to be received (2): then nobody has to be first.

PyTorch: ``torch.distributed.batch_isend_irecv``. Megatron-LM's names for the two exchanges of the steady state are
``send_forward_recv_backward`` and ``send_backward_recv_forward``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

Pass = Callable[[int, Tensor | None], Tensor]


def one_f_one_b_exchange(
    forward: Pass, backward: Pass, micro_batches: int, shape: Sequence[int], group: dist.ProcessGroup | None = None
) -> list[Tensor]:
    """The broken version: with sends that are not buffered, neighbours send to each other and wait forever."""
    s, p = dist.get_rank(group), dist.get_world_size(group)
    warm_up = min(p - s - 1, micro_batches)

    def receive(stage: int) -> Tensor | None:
        if not 0 <= stage < p:
            return None
        tensor = torch.empty(tuple(shape))
        dist.recv(tensor, group=group, group_src=stage)
        return tensor

    def send(tensor: Tensor, stage: int) -> None:
        if 0 <= stage < p:
            dist.send(tensor, group=group, group_dst=stage)

    found = list[Tensor]()
    for i in range(warm_up):
        send(forward(i, receive(s - 1)), s + 1)
    for i in range(warm_up, micro_batches):
        send(forward(i, receive(s - 1)), s + 1)
        found.append(backward(i - warm_up, receive(s + 1)))
        send(found[-1], s - 1)
    for i in range(micro_batches - warm_up, micro_batches):
        found.append(backward(i, receive(s + 1)))
        send(found[-1], s - 1)
    return found


def mend_one_f_one_b_exchange(
    forward: Pass, backward: Pass, micro_batches: int, shape: Sequence[int], group: dist.ProcessGroup | None = None
) -> list[Tensor]:
    """The mended version. Returns what ``backward`` returned for each micro-batch: dx of shape ``shape``."""
    s, p = dist.get_rank(group), dist.get_world_size(group)
    warm_up = min(p - s - 1, micro_batches)

    def exchange(send: Tensor | None = None, to: int = -1, source: int = -1) -> Tensor | None:
        """One batch of a send and a receive, each left out if there is no such stage. Returns what was received."""
        messages, received = list[dist.P2POp](), None
        if send is not None and 0 <= to < p:
            messages.append(dist.P2POp(dist.isend, send, group=group, group_peer=to))
        if 0 <= source < p:
            received = torch.empty(tuple(shape))
            messages.append(dist.P2POp(dist.irecv, received, group=group, group_peer=source))
        for work in dist.batch_isend_irecv(messages) if messages else ():
            work.wait()
        return received

    found = list[Tensor]()
    for i in range(warm_up):
        exchange(forward(i, exchange(source=s - 1)), s + 1)
    x = exchange(source=s - 1) if warm_up < micro_batches else None
    for i in range(warm_up, micro_batches):
        dy = exchange(forward(i, x), to=s + 1, source=s + 1)  # (1)
        found.append(backward(i - warm_up, dy))
        more = i + 1 < micro_batches
        x = exchange(found[-1], to=s - 1, source=s - 1 if more else -1)  # (2)
    for i in range(micro_batches - warm_up, micro_batches):
        found.append(backward(i, exchange(source=s + 1)))
        exchange(found[-1], s - 1)
    return found
