"""Delayed-synchronous SGD: the all-reduce of a step's gradient is under way while the next gradient is computed.

    computed       ├ g_0 at w_0 ┤├ g_1 at w_0 ┤├ g_2 at w_1 ┤├ g_3 at w_2 ┤
    all-reduces                  ├── G_0 ──┤   ├── G_1 ──┤   ├── G_2 ──┤   ├── G_3 ──┤

The staleness does not depend on timing: every gradient but the first is exactly one step old, on every rank, in every
run. All ranks still wait for each other, so a rank that is always slow costs as much as before. What delaying saves is
the time of the all-reduce, as long as computing takes longer; and as each gradient is stale by one step, the largest
learning rate that still converges is smaller.

Cost: one all-reduce of |w| numbers a step, as without delay.
Source: Y. Li et al., Pipe-SGD: A Decentralized Pipelined SGD Framework for Distributed Deep Net Training, NeurIPS 2018;
that such SGD converges: J. Langford, A. Smola and M. Zinkevich, Slow Learners are Fast, NIPS 2009.
"""

from __future__ import annotations

import torch.distributed as dist
from torch import Tensor

from lockstep.without_waiting.local_sgd import Gradient


def delayed(gradient: Gradient, w: Tensor, steps: int, rate: float, group: dist.ProcessGroup | None = None) -> Tensor:
    """Delayed-synchronous SGD: w after the mean gradients of all ``steps`` steps, the same on every rank. ``w`` stays
    as it was."""
    ranks, travelling = dist.get_world_size(group), None
    for step in range(steps):
        g = gradient(w, step)  # meanwhile the gradient of the step before travels
        w = _arrived(w, travelling, rate / ranks)
        total = g.clone()
        travelling = total, dist.all_reduce(total, group=group, async_op=True)
    return _arrived(w, travelling, rate / ranks)


def delayed_serially(gradients: list[Gradient], w: Tensor, steps: int, rate: float) -> Tensor:
    """The same on one machine, without ranks: ``gradients[r]`` is rank r's."""
    before = w
    for step in range(steps):
        g = sum(gradient(before, step) for gradient in gradients)
        before, w = w, w - rate / len(gradients) * g
    return w


def _arrived(w: Tensor, travelling: tuple[Tensor, dist.Work | None] | None, rate: float) -> Tensor:
    if travelling is None:
        return w
    total, work = travelling
    if work:
        work.wait()
    return w - rate * total
