"""What a bucket of parameters does in each of ZeRO's stages: how it keeps gradients (1), sends them (2), and gives the
others what this rank has updated (4). The numbers are those of ``lockstep.sharded.zero``, and so are the letters.

    stage                       gradients, numbers     sent by            parameters sent by
    0   Replicated              N                      all-reduce
    1   StateSharded            N                      reduce-scatter     all-gather
    2   GradientSharded         n, or N for a while    reduce-scatter     all-gather
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.data_parallel.ddp import Bucket
from lockstep.errors import UsageError
from lockstep.sharded.flat import shard_length


class Replicated(Bucket):
    """Stage 0: in each of the K ranks all is whole. ``pieces``: of how many shards; ``r``: which one this rank updates.

    ``whole`` (K·n,): the bucket's parameters, which become views of it. ``shard`` (n,): what the optimizer knows, a
    view as well, or a float32 copy (the master) where the model computes in another dtype, ``precision``.
    """

    def __init__(
        self, parameters: Sequence[Tensor], K: int, pieces: int = 1, r: int = 0, precision: torch.dtype | None = None
    ) -> None:
        self.parameters, self.K, self.transfer = list(parameters), K, None
        self.N = sum(p.numel() for p in parameters)
        n = shard_length(self.N, pieces)
        self.mine = slice(r * n, (r + 1) * n)
        drawn = parameters[0].new_zeros(pieces * n, requires_grad=False)
        for p, view in self._parted(drawn).items():
            view.copy_(p.detach())
        self.whole = drawn.to(precision or drawn.dtype)
        master = torch.promote_types(drawn.dtype, torch.float32) if precision else drawn.dtype
        same = master == self.whole.dtype
        self.shard = nn.Parameter(self.whole[self.mine] if same else drawn[self.mine].to(master, copy=True))
        for p, view in self._parted(self.whole).items():
            p.data = view
        self.missing = set(parameters)
        self.prepare()

    def prepare(self) -> None:
        """A place for the gradients (1), as long-lived as the model's."""
        self.flat = torch.zeros_like(self.whole)
        self.views = self._parted(self.flat)
        self.empty()

    def empty(self) -> None:
        """Gradients begin at zero."""
        self.shard.grad = None
        self.flat.zero_()
        for p, view in self.views.items():
            p.grad = view

    def land(self) -> None:
        super().land()
        self.shard.grad = self.flat[self.mine].to(self.shard.dtype)

    def publish(self, group: dist.ProcessGroup | None) -> Any:
        """What this rank has updated is what the model computes with. Returns a transfer to wait for, or None."""
        if self.shard.dtype != self.whole.dtype:
            self.whole[self.mine] = self.shard.detach().to(self.whole.dtype)

    def _parted(self, flat: Tensor) -> dict[Tensor, Tensor]:
        pieces = torch.split(flat[: self.N], [p.numel() for p in self.parameters])
        return {p: piece.view_as(p) for p, piece in zip(self.parameters, pieces, strict=True)}


class StateSharded(Replicated):
    """Stage 1. Collectives write in place: the mean of a shard over a part of what it is made of, the updated shards
    beside this rank's own."""

    def launch(self, group: dist.ProcessGroup | None) -> None:
        if self.shard.grad is not None:  # the mean stands in the place of this rank's sums
            raise UsageError(
                "In stage 1 the gradients of a step are sent once, and these have been sent already.",
                "Call zero_grad() after each step, and put all backward passes of a step but the last into no_sync().",
            )
        self.flat /= self.K
        self.transfer = dist.reduce_scatter_tensor(self.flat[self.mine], self.flat, group=group, async_op=True)  # 2

    def publish(self, group: dist.ProcessGroup | None) -> Any:
        super().publish(group)
        return dist.all_gather_into_tensor(self.whole, self.whole[self.mine], group=group, async_op=True)  # 4


class GradientSharded(StateSharded):
    """Stage 2. A bucket's gradients (1) are where autograd has put them until they travel; shards of several passes add
    up, in float32 if the shard is."""

    def prepare(self) -> None:
        self.flat = self.whole.new_empty(0)
        self.empty()

    def empty(self) -> None:
        self.shard.grad = None
        for p in self.parameters:
            p.grad = None

    def take(self, p: Tensor) -> None:
        self.missing.discard(p)

    def launch(self, group: dist.ProcessGroup | None) -> None:
        flat = torch.zeros_like(self.whole)
        for p, view in self._parted(flat).items():
            if p.grad is not None:
                view.copy_(p.grad)
            p.grad = None
        flat /= self.K
        self.flat = flat.new_empty(len(self.shard))
        self.transfer = dist.reduce_scatter_tensor(self.flat, flat, group=group, async_op=True)  # 2

    def land(self) -> None:
        """The mean of this rank's shard is here: nothing else of the gradients is left."""
        if self.transfer is None:
            return
        self.transfer.wait()
        mean = self.flat.to(self.shard.dtype)
        self.shard.grad = mean if self.shard.grad is None else self.shard.grad.add_(mean)
        self.flat, self.transfer, self.missing = self.flat.new_empty(0), None, set(self.parameters)


STAGES = (Replicated, StateSharded, GradientSharded)
