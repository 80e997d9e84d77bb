"""Many small all-reduces in one: a call costs its latency, however few bytes it carries.

Tensors of one dtype are copied into one buffer, which is all-reduced and cut up again, as DDP does with its buckets and
Horovod with its fusion buffer. What a training step sends besides, a loss and a number of samples, rides along.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import Tensor


def reduced_together(tensors: Sequence[Tensor], group: dist.ProcessGroup | None = None) -> list[Tensor]:
    """The sums over the ranks of all tensors, new ones of the same shapes and dtypes, with one all-reduce for each
    dtype."""
    sums: dict[int, Tensor] = {}
    for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):
        own = [n for n, tensor in enumerate(tensors) if tensor.dtype == dtype]
        buffer = torch.cat([tensors[n].flatten() for n in own])
        dist.all_reduce(buffer, group=group)
        parts = torch.split(buffer, [tensors[n].numel() for n in own])
        sums |= {n: part.view(tensors[n].shape) for n, part in zip(own, parts, strict=True)}
    return [sums[n] for n in range(len(tensors))]


def mend_tiny_collectives(
    gradients: Sequence[Tensor], loss: Tensor, samples: int, group: dist.ProcessGroup | None = None
) -> list[Tensor]:
    """The mean gradients of all ranks' samples, and at the end the mean loss, float32. ``gradients`` and ``loss``, of
    shape (), are sums over this rank's ``samples``, which may be 0."""
    *sums, total, count = reduced_together(
        [*gradients, loss, torch.tensor(samples, dtype=loss.dtype, device=loss.device)], group
    )
    return [part / count for part in [*sums, total]]
