"""ZeRO, stages 0 to 2: data parallelism that shards first the optimizer's state over the ranks, then the gradients.

    Ψ            numbers in the parameters of the model
    N_d = K, r   ranks (the degree of data parallelism), this one's number
    N, n         numbers of a bucket, and of its shard: n = ceil(N/K)

A bucket's parameters are views of one vector. This rank's optimizer is given its shard of that vector, and nothing
else:

    whole     │ shard 0 │ shard 1 │ shard 2 │ shard 3 │   K·n parameters: the model computes with all of them
                             ▲ optimizer.step() on rank 1

    stage                   1. gradients, numbers      2. sent by        3. update        4. parameters sent by
    0   Replicated          N, as long as the model    all-reduce        N on each rank
    1   StateSharded        N, as long as the model    reduce-scatter    n on each rank   all-gather
    2   GradientSharded     n; N of two buckets (*)    reduce-scatter    n on each rank   all-gather

    (*) the one that the backward pass computes and the one in flight: no other bucket's gradients exist

                bytes a rank, float32 with Adam      numbers a rank sends in a step (N_d dividing Ψ)
    stage 0     4Ψ + 4Ψ + 8Ψ                         2Ψ(K-1)/K, as any all-reduce
    stage 1     4Ψ + 4Ψ + 8Ψ/K                       the same: its two halves, one before and one after the update
    stage 2     4Ψ + 4Ψ/K + 8Ψ/K, and (*)            the same, with one backward pass a step

In stages 1 and 2 padding adds up to K-1 numbers a bucket: ``lockstep.cost.sharding`` has the exact bytes. Elementwise
optimizers (SGD, momentum, Adam) update a shard exactly as they would update the whole vector. Stage 3, which shards the
parameters too, is ``lockstep.sharded.fsdp``.

Source: Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, arXiv:1910.02054,
sections 5 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch import Tensor, nn

from lockstep.data_parallel.ddp import MEGABYTE, Bucket, BucketedDDP
from lockstep.errors import UsageError
from lockstep.sharded.flat import shard_length

# ---- a bucket of parameters in each stage


class Replicated(Bucket):
    """Stage 0: every rank holds the whole bucket. ``pieces``: the number of shards; ``r``: the one this rank updates.

    ``whole`` (K·n,): the bucket's parameters, which become views of it. ``shard`` (n,): the optimizer's parameter, also
    a view of it, or a float32 copy (the master) where the model computes in another dtype, ``precision``.
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
        """Allocate the buffer of gradients (1), which lives as long as the model."""
        self.flat = torch.zeros_like(self.whole)
        self.views = self._parted(self.flat)
        self.empty()

    def empty(self) -> None:
        """Reset the gradients to zero."""
        self.shard.grad = None
        self.flat.zero_()
        for p, view in self.views.items():
            p.grad = view

    def land(self) -> None:
        super().land()
        self.shard.grad = self.flat[self.mine].to(self.shard.dtype)

    def publish(self, group: dist.ProcessGroup | None) -> Any:
        """Copy this rank's update into the model's parameters. Returns a transfer to wait for, or None."""
        if self.shard.dtype != self.whole.dtype:
            self.whole[self.mine] = self.shard.detach().to(self.whole.dtype)

    def _parted(self, flat: Tensor) -> dict[Tensor, Tensor]:
        pieces = torch.split(flat[: self.N], [p.numel() for p in self.parameters])
        return {p: piece.view_as(p) for p, piece in zip(self.parameters, pieces, strict=True)}


class StateSharded(Replicated):
    """Stage 1. Collectives work in place: the mean of a shard overwrites this rank's part of the bucket's gradients,
    and the all-gather writes the other ranks' shards around this rank's own."""

    def launch(self, group: dist.ProcessGroup | None) -> None:
        if self.shard.grad is not None:  # the mean has overwritten this rank's sums
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
    """Stage 2. A bucket's gradients (1) stay where autograd has put them until they are reduced; the shards of several
    backward passes add up, in float32 if the shard is."""

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
        """Wait for the mean of this rank's shard; the rest of the bucket's gradients is already freed."""
        if self.transfer is None:
            return
        self.transfer.wait()
        mean = self.flat.to(self.shard.dtype)
        self.shard.grad = mean if self.shard.grad is None else self.shard.grad.add_(mean)
        self.flat, self.transfer, self.missing = self.flat.new_empty(0), None, set(self.parameters)


STAGES = (Replicated, StateSharded, GradientSharded)


# ---- the model


class Steps(Protocol):
    """The part of an optimizer's interface that `Zero` uses."""

    def step(self) -> Any:
        """Update the tensors it was constructed with from their ``grad``."""


Optimizer = Callable[[Sequence[Tensor]], Steps]


class Zero(BucketedDDP):
    """``model`` on every rank of ``group``, trained by ``optimizer(tensors)``, which is called with this rank's
    ``shards``, one vector for each bucket.

    After a backward pass each ``shard.grad`` is its part of the mean gradient. Stage 2 reduces the gradients of every
    backward pass, even inside ``no_sync``: it keeps no whole gradients that could accumulate.

    ``precision``: the dtype in which the model computes and collectives send, such as torch.bfloat16. The optimizer
    then updates a float32 master of the shard, with a float32 gradient that accumulates over micro-batches (4 + 12
    bytes a number of the shard, 2 more than the paper's 2 + 12).

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
        """The model's output for this rank's share of the batch. Floating-point inputs are cast to ``precision``."""
        return super().forward(*(self._cast(a) for a in args), **{k: self._cast(a) for k, a in kwargs.items()})

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Wrap all backward passes of a step but the last: stages 0 and 1 then communicate once a step."""
        with nullcontext() if self.stage == 2 else super().no_sync():
            yield

    def zero_grad(self, set_to_none: bool = True) -> None:
        for bucket in self.buckets:
            bucket.empty()

    def step(self) -> None:
        """Update this rank's shards (3), and all-gather those of the other ranks (4)."""
        self.optimizer.step()
        self.publish()

    def publish(self) -> None:
        """Write the ranks' current shards into the model's parameters."""
        for transfer in [bucket.publish(self.group) for bucket in self.buckets]:
            if transfer:
                transfer.wait()

    def _launch_next(self) -> None:
        """In stage 2 at most one bucket is in flight while the next one is computed."""
        if self.stage == 2 and self._launched:
            self.buckets[self._launched - 1].land()
        super()._launch_next()

    def _cast(self, value: Any) -> Any:
        floats = isinstance(value, Tensor) and value.is_floating_point()
        return value.to(self._precision) if floats and self._precision else value
