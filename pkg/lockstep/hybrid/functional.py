"""The lab's training step under three axes, as a short function on plain tensors.

    stage   y = x + relu(x·A)·B      tp: columns of A, rows of B      pp: one stage a rank      dp: copies

The complete version is ``executed_step``, of a GPT.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

Groups = Mapping[str, dist.ProcessGroup]


def train_2x2x2(
    A: Tensor, B: Tensor, rows: Sequence[int], inputs: Sequence[Tensor], targets: Sequence[Tensor], count: int,
    groups: Groups,
) -> list[Tensor]:  # fmt: skip
    """The gradients of ``A`` (h, m/tp) and ``B`` (m/tp, h) with respect to the sum of squares of all copies' errors,
    over ``count``. ``rows``: examples of each micro-batch; ``inputs`` on the first stage, ``targets`` on the last one:
    (n, h) for each of them."""
    pipeline, stage, stages = groups["pp"], dist.get_rank(groups["pp"]), dist.get_world_size(groups["pp"])
    ins, outs = list[Tensor](), list[Tensor]()
    for i, n in enumerate(rows):
        x = inputs[i] if stage == 0 else _from(pipeline, stage - 1, A.new_empty(n, len(A)))
        more = (x @ A).relu() @ B
        dist.all_reduce(more, group=groups["tp"])
        ins.append(x)
        outs.append(x + more)
        if stage < stages - 1:
            dist.send(outs[-1], group=pipeline, group_dst=stage + 1)
    gradients = [torch.zeros_like(A), torch.zeros_like(B)]
    for i, (x, y) in enumerate(zip(ins, outs, strict=True)):
        last = stage == stages - 1
        g = 2 * (y - targets[i]) / count if last else _from(pipeline, stage + 1, torch.empty_like(y))
        hidden = (x @ A).relu()
        before = (g @ B.T) * (hidden > 0)
        gradients[0] += x.T @ before
        gradients[1] += hidden.T @ g
        if stage:
            more = before @ A.T
            dist.all_reduce(more, group=groups["tp"])
            dist.send(g + more, group=pipeline, group_dst=stage - 1)
    for gradient in gradients:
        dist.all_reduce(gradient, group=groups["dp"])
    return gradients


def _from(group: dist.ProcessGroup, stage: int, room: Tensor) -> Tensor:
    dist.recv(room, group=group, group_src=stage)
    return room
