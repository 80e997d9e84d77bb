"""The weights and gradients of a chunk in vectors, summed over the data-parallel ranks, and Adam on a rank's shard.

    N        numbers of a bucket (padded to a multiple of K, if it is sharded)
    K, r     data-parallel ranks, this one's number

    zero     sum                        update                  afterwards
    0        all-reduce, N              N on each rank
    1        reduce-scatter, N to N/K   N/K: shard r            all-gather of the weights, N/K to N
    2        the same, for each micro-batch                     the same

Parameters and their gradients are views of the vectors: autograd adds to them in place, and nothing is copied.
Without overlap there is one bucket; with overlap one for each layer, whose sum starts as soon as the last of its
gradients is there. What is a partial sum over the tensor-parallel group has a bucket of its own, the first. So
have experts, which are summed over the ranks with the same experts.

Memory of each number, in 16 bits: weight 2, gradient 2, and in float32 master weight 4, mean 4, square 4 (ZeRO,
arXiv:1910.02054, section 3.1). The last three are sharded with ``zero=1``, and the gradients, too, with ``zero=2``:
then only one layer's are whole at a time, and they are sent once for each micro-batch. Stage 3 shards the weights, too:
``sharded_weights``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.sharded.flat import shard_length

PIECE = 1 << 26  # numbers that the optimizer updates at once: so many gradients exist in float32


class Bucket:
    """Parameters whose gradients are summed together over ``group``, K ranks. ``weights`` (N,) are whole; ``gradients``
    too, and the parameters' ``.grad`` are views of it. ``shard``: what this rank updates."""

    def __init__(self, parameters: Sequence[nn.Parameter], group: dist.ProcessGroup, sharded: bool) -> None:
        self.parameters, self.group, self.K = (parameters, group, dist.get_world_size(group))
        pieces, r = (self.K, dist.get_rank(group)) if sharded else (1, 0)
        self.n = shard_length(sum(p.numel() for p in parameters), pieces)
        self.sharded, self.shard = sharded, slice(r * self.n, (r + 1) * self.n)
        self.weights = parameters[0].new_zeros(self.n * pieces)
        for p, mine in zip(parameters, self.views(self.weights), strict=True):
            with torch.no_grad():
                mine.copy_(p)
            p.data = mine
        self.make_gradients()
        self.missing, self.under_way = len(parameters), None

    def views(self, vector: Tensor) -> list[Tensor]:
        """The parts of a vector (N,) that belong to the parameters, in their shapes."""
        ends = list(accumulate(p.numel() for p in self.parameters))
        return [vector[end - p.numel() : end].view_as(p) for p, end in zip(self.parameters, ends, strict=True)]

    def make_gradients(self) -> None:
        self.gradients = torch.zeros_like(self.weights)
        for p, mine in zip(self.parameters, self.views(self.gradients), strict=True):
            p.grad = mine

    def own_weights(self) -> Tensor:
        """Those of the shard."""
        return self.weights[self.shard]

    def own_gradients(self) -> Tensor:
        """Those of the shard."""
        return self.gradients[self.shard]

    def pass_is_over(self, summing: bool) -> None:
        """All gradients of a backward pass are there. ``summing``: it is the last one of the step."""
        if summing:
            self.begin_sum()

    def begin_sum(self) -> None:
        """Start the sum over the data-parallel ranks."""
        if self.K > 1:
            self.under_way = (
                dist.reduce_scatter_tensor(self.own_gradients(), self.gradients, group=self.group, async_op=True)
                if self.sharded
                else dist.all_reduce(self.gradients, group=self.group, async_op=True)
            )

    def end_sum(self) -> None:
        if self.under_way is not None:
            self.under_way.wait()
            self.under_way = None
        self.missing = len(self.parameters)

    def reduce(self) -> None:
        """After the last backward pass: the whole sum, unless it is under way."""
        if self.under_way is None:
            self.begin_sum()

    def gather(self) -> None:
        """After the update: all ranks' shards of the weights."""
        if self.sharded and self.K > 1:
            dist.all_gather_into_tensor(self.weights, self.weights[self.shard], group=self.group)


class ShardedBucket(Bucket):
    """ZeRO's stage 2: of the gradients, too, a rank keeps its shard only. Each backward pass makes those of a bucket
    anew, and sends them as soon as they are complete; the sum of its shard is added up."""

    def make_gradients(self) -> None:
        self.gradients = self.weights.new_zeros(self.n)

    def own_gradients(self) -> Tensor:
        return self.gradients

    def pass_is_over(self, summing: bool) -> None:
        self.whole = torch.zeros_like(self.weights)
        for p, mine in zip(self.parameters, self.views(self.whole), strict=True):
            assert p.grad is not None
            mine.copy_(p.grad)
            p.grad = None
        self.piece = self.whole.new_empty(self.n)
        self.under_way = dist.reduce_scatter_tensor(self.piece, self.whole, group=self.group, async_op=True)

    def end_sum(self) -> None:
        if self.under_way is not None:
            super().end_sum()
            self.gradients.add_(self.piece)
            del self.whole, self.piece

    def reduce(self) -> None:
        """It was done in each backward pass."""


class ShardedAdam(torch.optim.Optimizer):
    """Adam on this rank's shard of each bucket, in float32 at least (Kingma, Ba, arXiv:1412.6980)."""

    def __init__(self, buckets: Sequence[Bucket], lr: float = 1e-4) -> None:
        shards = [nn.Parameter(bucket.own_weights()) for bucket in buckets]
        for shard, bucket in zip(shards, buckets, strict=True):
            shard.grad = bucket.own_gradients()
        super().__init__(shards, {"lr": lr})
        self.shards, self.lr = shards, lr
        for shard in shards:
            master = shard.detach().to(torch.promote_types(shard.dtype, torch.float32), copy=True)
            mean, square = torch.zeros_like(master), torch.zeros_like(master)
            self.state[shard] = {"master": master, "mean": mean, "square": square, "step": torch.zeros(())}

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for shard in self.shards:
            state = self.state[shard]
            state["step"] += 1
            vectors = [shard.data, shard.grad, *(state[name] for name in ("master", "mean", "square"))]
            for weights, gradients, master, mean, square in zip(*(torch.split(v, PIECE) for v in vectors), strict=True):
                fused_adam(master, gradients.to(master.dtype), mean, square, state["step"], self.lr)
                weights.copy_(master)


def fused_adam(weights: Tensor, gradients: Tensor, mean: Tensor, square: Tensor, step: Tensor, lr: float) -> None:
    """One kernel, as torch.optim.Adam(fused=True) calls it."""
    torch._fused_adam_(
        [weights], [gradients], [mean], [square], [], [step],
        lr=lr, beta1=0.9, beta2=0.999, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False,
    )  # fmt: skip
