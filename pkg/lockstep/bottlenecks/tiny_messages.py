"""Gradients all-reduced one by one, or flattened into buckets: the same bytes in fewer messages.

    one by one      P all-reduces            P · alpha + N / bandwidth
    in buckets      N / bucket all-reduces   (N / bucket) · alpha + N / bandwidth

torch's DDP has buckets of 25 MiB (unit 05), Horovod fuses what is ready within a cycle (unit 07).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
import torch.distributed as dist
from torch import Tensor

BUCKET = 25 * 2**20  # bytes, torch's DDP


def one_by_one(gradients: Sequence[Tensor], group: dist.ProcessGroup | None = None) -> None:
    """The mean over the ranks, in place: an all-reduce for each tensor."""
    for gradient in gradients:
        dist.all_reduce(gradient, group=group)
        gradient /= dist.get_world_size(group)


def in_buckets(gradients: Sequence[Tensor], nbytes: int = BUCKET, group: dist.ProcessGroup | None = None) -> None:
    """The same, with an all-reduce for each bucket of at most ``nbytes`` bytes (a larger tensor has one of its own)."""
    for bucket in buckets(gradients, nbytes):
        flat = torch.cat([gradient.flatten() for gradient in bucket])
        dist.all_reduce(flat, group=group)
        flat /= dist.get_world_size(group)
        parts = torch.split(flat, [g.numel() for g in bucket])
        for gradient, part in zip(bucket, parts, strict=True):
            gradient.copy_(part.view_as(gradient))


def buckets(gradients: Sequence[Tensor], nbytes: int = BUCKET) -> Iterator[list[Tensor]]:
    """In their order, as many as fit; tensors of another dtype begin a new one."""
    bucket, held = list[Tensor](), 0
    for gradient in gradients:
        own = gradient.numel() * gradient.element_size()
        if bucket and (held + own > nbytes or gradient.dtype != bucket[0].dtype):
            yield bucket
            bucket, held = [], 0
        bucket.append(gradient)
        held += own
    if bucket:
        yield bucket
