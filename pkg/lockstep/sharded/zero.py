"""ZeRO, stages 0 to 2: data parallelism in which ranks divide first the optimizer's state, then the gradients.

    Ψ            numbers in the parameters of the model
    N_d = K, r   ranks (the degree of data parallelism), this one's number
    N, n         numbers of a bucket, and of its shard: n = ceil(N/K)

A bucket's parameters are views of one vector; this rank's optimizer knows its shard of that vector, and no more:

    whole     │ shard 0 │ shard 1 │ shard 2 │ shard 3 │   K·n parameters: the model computes with all of them
                             ▲ optimizer.step() on rank 1

    stage   1. gradients               2. they travel            3. update        4. parameters travel
    0       N, until the next step     all-reduce                N on each rank
    1       N, until the next step     reduce-scatter            n on each rank   all-gather
    2       n; N in one bucket only    reduce-scatter, at once   n on each rank   all-gather

                bytes a rank, float32 with Adam      numbers a rank sends in a step (N_d dividing Ψ)
    stage 0     4Ψ + 4Ψ + 8Ψ                         2Ψ(K-1)/K, as any all-reduce
    stage 1     4Ψ + 4Ψ + 8Ψ/K                       the same: its two halves, one before and one after the update
    stage 2     4Ψ + (4 + 8)Ψ/K                      the same, with one backward pass a step

An optimizer that updates each number by itself (SGD, momentum, Adam) does with a shard what it does with the whole.
Stage 3, which divides the parameters too, is ``lockstep.sharded.fsdp``.

Source: Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, arXiv:1910.02054,
sections 5 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.data_parallel.ddp import MEGABYTE, Bucket, BucketedDDP
from lockstep.errors import UsageError
from lockstep.sharded.flat import shard_length

Optimizer = Callable[[Sequence[Tensor]], torch.optim.Optimizer]


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
        self.shard = nn.Parameter(drawn[self.mine].clone() if precision else drawn[self.mine])
        for p, view in self._parted(self.whole).items():
            p.data = view
        self.missing = set(parameters)
        self.prepare()

    def prepare(self) -> None:
        """A place for the gradients, as long-lived as the model's."""
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
        """What this rank has updated is what the model computes with. Returns what to wait for, or None."""
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
    """Stage 2. A bucket's gradients live until they have travelled; shards of several passes add up (in float32 if the
    shard is)."""

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


class Zero(BucketedDDP):
    """``model`` on every rank of ``group``, trained by ``optimizer(tensors)``, which is given this rank's ``shards``, a
    vector for each bucket.

    After a backward pass each ``shard.grad`` is its part of the mean gradient. In stage 2 each pass is sent, in
    ``no_sync`` too: there is no place where whole gradients could add up. ``precision``: the dtype in which the model
    computes and collectives travel, as torch.bfloat16; its optimizer then updates a float32 master of the shard.

    ::

        zero = Zero(model, lambda tensors: torch.optim.Adam(tensors, lr=1e-3), stage=2)
        for x, y in batches:
            zero.zero_grad()
            loss(zero(x), y).backward()
            zero.step()
    """

    buckets: list[Replicated]  # type: ignore[assignment]

    def __init__(
        self,
        model: nn.Module,
        optimizer: Optimizer,
        stage: int = 2,
        bucket_bytes: float = 25 * MEGABYTE,
        group: dist.ProcessGroup | None = None,
        precision: torch.dtype | None = None,
    ) -> None:
        if stage not in range(len(STAGES)):
            raise UsageError(f"There is no stage {stage!r} here.", "Take 0, 1 or 2; stage 3 is FullySharded.")
        self.stage, self._precision = stage, precision
        super().__init__(model, bucket_bytes, group)
        self.shards = [bucket.shard for bucket in self.buckets]
        self.optimizer = optimizer(self.shards)

    def bucket_of(self, parameters: Sequence[Tensor]) -> Replicated:
        K, r = dist.get_world_size(self.group), dist.get_rank(self.group)
        pieces, mine = (K, r) if self.stage else (1, 0)
        return STAGES[self.stage](parameters, K, pieces, mine, self._precision)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the model gives for this rank's share of the batch, whose floats are taken to ``precision``."""
        return super().forward(*(self._cast(a) for a in args), **{k: self._cast(a) for k, a in kwargs.items()})

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """For all backward passes of a step but the last: stages 0 and 1 send their sum once."""
        with nullcontext() if self.stage == 2 else super().no_sync():
            yield

    def zero_grad(self, set_to_none: bool = True) -> None:
        for bucket in self.buckets:
            bucket.empty()

    def step(self) -> None:
        """Update this rank's shards (3), and gather those of the others (4)."""
        self.optimizer.step()
        self.publish()

    def publish(self) -> None:
        """Give the model the parameters that the ranks' shards hold."""
        for transfer in [bucket.publish(self.group) for bucket in self.buckets]:
            if transfer:
                transfer.wait()

    def _launch_next(self) -> None:
        """In stage 2 one bucket is under way while the next is computed, and no more."""
        if self.stage == 2 and self._launched:
            self.buckets[self._launched - 1].land()
        super()._launch_next()

    def _cast(self, value: Any) -> Any:
        floats = isinstance(value, Tensor) and value.is_floating_point()
        return value.to(self._precision) if floats and self._precision else value
