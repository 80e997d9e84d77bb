"""ZeRO's stage 3 on a grid: a rank keeps its shard of the weights, and a layer is whole only while it computes.

    forward     1 gather ── layer ── 2 let go          of every micro-batch
    backward    3 gather ── layer ── 4 let go ── 5 reduce-scatter of its gradients

1. An all-gather before the layer's forward pass. With ``overlap`` the next layer's is posted then, and runs while this
   one computes: two layers are whole.
2. Autograd has kept views of the whole vector for the backward pass. Their storage is emptied, and filled again before
   they are read.
3. When the gradient of the layer's output arrives; a layer that is recomputed is gathered for that, and stays whole.
4. When the last of its gradients is there. 5 is that of stage 2 (``gradient_buckets``).

A layer is a block, the embedding or the scores: each with its own bucket, and one for its experts. What is small stays
whole, as in stage 1: positions and the last norm; with sequence parallelism all norms and biases, too, and the gates.
(DeepSpeed does the same: ``stage3_param_persistence_threshold``.)

The same as ``sharded.fsdp``, whose units are not on a grid. Source: ZeRO, arXiv:1910.02054, section 5.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.hybrid.gradient_buckets import ShardedBucket


class FullyShardedBucket(ShardedBucket):
    """``weights`` (N,) have a storage only while they are whole; ``own`` (N/K,) is what the rank keeps."""

    def __init__(self, parameters: Sequence[nn.Parameter], group: dist.ProcessGroup, sharded: bool) -> None:
        super().__init__(parameters, group, sharded)
        self.own = self.weights[self.shard].clone()
        self.arriving: Any = None
        self.let_go()

    def own_weights(self) -> Tensor:
        return self.own

    def post(self) -> None:
        """Start the all-gather, unless the weights are there or on their way."""
        storage = self.weights.untyped_storage()
        if storage.nbytes() == 0:
            storage.resize_(self.weights.nbytes)
            self.arriving = dist.all_gather_into_tensor(self.weights, self.own, group=self.group, async_op=True)

    def make_whole(self) -> None:
        self.post()
        if self.arriving is not None:
            self.arriving.wait()
            self.arriving = None

    def let_go(self) -> None:
        self.weights.untyped_storage().resize_(0)

    def pass_is_over(self, summing: bool) -> None:
        self.let_go()  # 4
        super().pass_is_over(summing)  # 5

    def gather(self) -> None:
        """After the update: the next forward pass does it."""


class Unit:
    """A layer with its ``buckets``, and the layers before and after it in the chunk, if they are to be gathered ahead.
    ``recomputed``: its forward pass is repeated in the backward pass. ``needed``: its backward pass reads the
    weights."""

    def __init__(
        self, module: nn.Module, buckets: Sequence[FullyShardedBucket], recomputed: bool, needed: bool = True
    ) -> None:
        self.buckets, self.recomputed, self.needed = buckets, recomputed, needed
        self.before: Unit | None = None
        self.after: Unit | None = None
        module.register_forward_pre_hook(self._begins)
        module.register_forward_hook(self._has_computed)

    def gather(self, ahead: Unit | None) -> None:
        """Make the layer whole, and start to gather ``ahead``."""
        for bucket in self.buckets:
            bucket.post()
        for bucket in self.buckets:
            bucket.make_whole()
        for bucket in ahead.buckets if ahead else ():
            bucket.post()

    def _begins(self, *_: Any) -> None:
        again = self.recomputed and torch.is_grad_enabled()
        self.gather(self._earlier() if again else self.after)  # 1, or 3

    def _has_computed(self, _module: nn.Module, _inputs: Any, output: Tensor) -> None:
        if self.recomputed and torch.is_grad_enabled():
            return  # its backward pass follows
        for bucket in self.buckets:
            bucket.let_go()  # 2
        if self.needed and output.requires_grad:
            output.register_hook(lambda _: self.gather(self._earlier()))  # type: ignore[no-untyped-call]  # 3

    def _earlier(self) -> Unit | None:
        return self.before if self.before and self.before.needed else None


def in_a_row(units: Sequence[Unit]) -> None:
    """Each of the units gathers its neighbour ahead."""
    for one, next_ in pairwise(units):
        one.after, next_.before = next_, one
