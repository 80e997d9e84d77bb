"""All-to-all: every rank has a message for every rank. The transpose of a matrix whose rows are ranks.

    K   ranks of the group        r   this rank, 0 ... K-1
    i   step, 0 ... K-1           n_rs   bytes of the message from rank r to rank s (any sizes)

K = 4. In step i a rank sends to (1) rank r + i and receives from (2) rank r - i, mod K. The table shows (1): no rank
is in a row twice, so all K messages of a step are sent at once.

             rank 0   rank 1   rank 2   rank 3
    i = 0      0        1        2        3      its own message: a copy
    i = 1      1        2        3        0
    i = 2      2        3        0        1
    i = 3      3        0        1        2

Cost of the pairwise exchange: K-1 rounds; K-1 messages per rank, with all bytes that are for other ranks. A round lasts
as long as its largest message: (K-1)·(alpha + max n·beta) seconds at most. Source: Thakur, Rabenseifner & Gropp (2005),
all-to-all for long messages. In the naive form, ``one_by_one_all_to_all``, one rank sends at a time: nearly K(K-1)
rounds (47 for K = 8, where the pairwise exchange takes 7).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch.distributed as dist
from torch import Tensor

from lockstep.collectives.exchange import exchange, flat
from lockstep.errors import UsageError


def pairwise_all_to_all(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], group: dist.ProcessGroup | None = None
) -> Sequence[Tensor]:
    """``inputs[s]`` goes to rank s; ``outputs[s]`` receives what rank s has for this rank. Returns ``outputs``.

    ``outputs[s]`` must have as many elements, of the same dtype, as ``inputs[r]`` of rank s.
    """
    r, K = dist.get_rank(group), _one_for_each(outputs, inputs, group)
    for i in range(K):
        to, origin = (r + i) % K, (r - i) % K  # (1), (2)
        with flat(outputs[origin]) as slot:
            exchange(inputs[to].detach().contiguous().view(-1), to, slot, origin, group)
    return outputs


def one_by_one_all_to_all(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], group: dist.ProcessGroup | None = None
) -> Sequence[Tensor]:
    """All-to-all with blocking calls: rank after rank sends all its messages, while the others receive."""
    r, K = dist.get_rank(group), _one_for_each(outputs, inputs, group)
    outputs[r].detach().copy_(inputs[r].view_as(outputs[r]))
    for speaker in range(K):
        if r == speaker:
            for other in set(range(K)) - {r}:
                dist.send(inputs[other].detach().contiguous().view(-1), group=group, group_dst=other)
        else:
            with flat(outputs[speaker]) as slot:
                dist.recv(slot, group=group, group_src=speaker)
    return outputs


def _one_for_each(outputs: Sequence[Tensor], inputs: Sequence[Tensor], group: dist.ProcessGroup | None) -> int:
    K = dist.get_world_size(group)
    if (len(outputs), len(inputs)) != (K, K):
        raise UsageError(
            f"An all-to-all of {K} ranks needs {K} outputs and {K} inputs, not {len(outputs)} and {len(inputs)}.",
            "Give one tensor for each rank, an empty one where there is nothing to send.",
        )
    return K
