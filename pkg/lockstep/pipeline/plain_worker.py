"""A worker for any schedule, in plain torch.distributed: it follows its stream, and knows no schedule.

    x[i]    input of micro-batch i: given on stage 0, received elsewhere
    y[i]    output; on the last stage the loss / m
    dy[i]   gradient of the output, from stage s + 1
    dx[i]   gradient of the input, for stage s - 1

Autograd ends at a stage's edges. So a received input asks for its gradient (1), and an output that was sent is the root
of a backward pass of its own (2), which begins at the gradient that the next stage has sent. Messages that stand
together are one batch (3): posted one by one, two neighbours can wait for each other.

``worker`` does the same for chunks, updates, stashed weights and re-materialisation, and lets sends go on meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.pipeline.pairs import Pair


def pipeline_worker(
    module: nn.Module,
    stream: Sequence[Pair],
    inputs: Sequence[Tensor],
    targets: Sequence[Tensor],
    loss: Callable[[Tensor, Tensor], Tensor],
    shape: Sequence[int],
    group: dist.ProcessGroup | None = None,
) -> list[Tensor]:
    """This stage's gradients of the mean loss, one for each of ``module.parameters()``.

    ``inputs``: all x of stage 0; ``targets``: all targets of the last one; both are empty elsewhere. ``shape``: of this
    stage's x, float32.
    """
    stage, stages = dist.get_rank(group), dist.get_world_size(group)
    x, y, dx, dy = dict(enumerate(inputs)), dict[int, Tensor](), dict[int, Tensor](), dict[int, Tensor | None]()

    def message(what: str, i: int) -> dist.P2POp:
        if what == "send activation":
            return dist.P2POp(dist.isend, y[i].detach(), group=group, group_peer=stage + 1)
        if what == "send gradient":
            return dist.P2POp(dist.isend, dx.pop(i), group=group, group_peer=stage - 1)
        if what == "receive activation":
            x[i] = torch.empty(tuple(shape))
            return dist.P2POp(dist.irecv, x[i], group=group, group_peer=stage - 1)
        received = dy[i] = torch.empty_like(y[i])
        return dist.P2POp(dist.irecv, received, group=group, group_peer=stage + 1)

    def exchange(messages: Iterable[Pair]) -> None:
        for work in dist.batch_isend_irecv([message(*one) for one in messages]):  # (3)
            work.wait()

    def compute(what: str, i: int) -> None:
        if what == "F":
            if stage > 0:
                x[i].requires_grad_()  # (1)
            y[i] = module(x[i])
            if stage == stages - 1:
                y[i] = loss(y[i], targets[i]) / len(targets)
        else:
            torch.autograd.backward(y.pop(i), dy.pop(i, None))  # (2)
            if stage > 0:
                dx[i] = gradient_of(x.pop(i))

    module.zero_grad()
    for computing, steps in groupby(stream, lambda step: step[0] in "FB"):
        if computing:
            for step in steps:
                compute(*step)
        else:
            exchange(steps)
    return [gradient_of(parameter) for parameter in module.parameters()]


def gradient_of(leaf: Tensor) -> Tensor:
    """What its backward passes have added up; zeros where none has reached it."""
    return torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
