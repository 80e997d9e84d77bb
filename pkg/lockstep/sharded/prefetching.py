"""Prefetch: the next layer is gathered while this one computes.

    compute         │        │ layer 0 │ layer 1 │ layer 2 │
    link      ├─ gather 0 ─┤├─ gather 1 ─┤├─ gather 2 ─┤

    without         ├─ gather 0 ─┤ layer 0 ├─ gather 1 ─┤ layer 1 ├─ gather 2 ─┤ layer 2 │

(1) wait for this layer's vector, (2) post the next layer's gather, (3) compute, (4) let go of this layer's vector. The
order matters: posted after (3) it hides behind nothing, and posted a layer earlier three layers are whole at once.
Source: Zhao et al., PyTorch FSDP (arXiv:2304.11277), section 3.3.2, where the host posts the gather of the next unit
before it computes this one; FSDP calls it forward prefetching.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch.distributed as dist
from torch import Tensor

from lockstep.sharded.layers import Layer


class Arriving(NamedTuple):
    """A layer's vector with its padding, and the transfer that fills it."""

    whole: Tensor
    work: dist.Work

    def wait(self, N: int) -> Tensor:
        """The vector (N,), when it is there."""
        self.work.wait()
        return self.whole[:N]


def posted(shard: Tensor, group: dist.ProcessGroup | None = None) -> Arriving:
    """Begin to gather the whole vector (K·n,) from all ranks' shards (n,), and go on."""
    whole = shard.new_empty(dist.get_world_size(group) * len(shard))
    work = dist.all_gather_into_tensor(whole, shard, group=group, async_op=True)
    assert work is not None
    return Arriving(whole, work)


def prefetch(
    layers: Sequence[Layer], shards: Sequence[Tensor], x: Tensor, group: dist.ProcessGroup | None = None
) -> Tensor:
    """The model's output for ``x``, from ``shards[i]`` (n,) of each layer i. At most two layers are whole."""
    arriving = posted(shards[0], group)
    for i, layer in enumerate(layers):
        flat = arriving.wait(layer.numel)  # (1)
        if i + 1 < len(layers):
            arriving = posted(shards[i + 1], group)  # (2)
        x = layer(flat, x)  # (3)
        del flat  # (4)
    return x


def one_after_the_other(
    layers: Sequence[Layer], shards: Sequence[Tensor], x: Tensor, group: dist.ProcessGroup | None = None
) -> Tensor:
    """The same output without prefetch: the link is idle while a layer computes, and the rank while it waits."""
    for layer, shard in zip(layers, shards, strict=True):
        x = layer(posted(shard, group).wait(layer.numel), x)
    return x
