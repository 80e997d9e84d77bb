"""Overlap: hiding communication behind a computation that does not need its result.

    one after the other     ├──── all-reduce ────┤├──── x @ weights ────┤        T + C seconds

    overlapped          (1) ├──── all-reduce ────┤                               max(T, C) seconds
                        (2) ├──── x @ weights ────┤ (3)

(1) start the transfer and go on, (2) compute, (3) wait before you touch the gradient. This is what data-parallel
training does in every backward pass: the gradients of the last layers are all-reduced while those of the first are
computed. The bytes and the messages are the same; only the waiting is gone.
Source: Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training (VLDB 2020), section 3.2.3.
"""

from __future__ import annotations

import torch.distributed as dist
from torch import Tensor


def overlapped_step(
    gradient: Tensor, x: Tensor, weights: Tensor, group: dist.ProcessGroup | None = None
) -> tuple[Tensor, Tensor]:
    """``(sum of gradient over the ranks, x @ weights)``; a contiguous ``gradient`` is summed in place."""
    gradient = gradient.detach().contiguous()
    transfer = dist.all_reduce(gradient, group=group, async_op=True)  # (1)
    product = x @ weights  # (2)
    transfer.wait()  # (3)
    return gradient, product


def one_after_the_other(
    gradient: Tensor, x: Tensor, weights: Tensor, group: dist.ProcessGroup | None = None
) -> tuple[Tensor, Tensor]:
    """The same result without overlap: the ranks idle while the gradient is all-reduced."""
    gradient = gradient.detach().contiguous()
    dist.all_reduce(gradient, group=group)
    return gradient, x @ weights
