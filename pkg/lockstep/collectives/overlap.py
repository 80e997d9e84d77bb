"""Hide a transfer behind a computation that does not need its result.

    one after the other     ├──── all-reduce ────┤├──── x @ weights ────┤        T + C seconds

    overlapped          (1) ├──── all-reduce ────┤                               max(T, C) seconds
                        (2) ├──── x @ weights ────┤ (3)

(1) start the transfer and go on, (2) compute, (3) wait before you touch the gradient. This is what data-parallel
training does in every backward pass: the gradients of the last layers travel while those of the first are computed.
The transfer moves the same bytes in the same messages; only the waiting is gone.
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
    """The same result without overlap: the ranks compute nothing while the gradient travels."""
    gradient = gradient.detach().contiguous()
    dist.all_reduce(gradient, group=group)
    return gradient, x @ weights
