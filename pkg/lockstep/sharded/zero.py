"""ZeRO, stages 0 to 2: data parallelism in which ranks divide first the optimizer's state, then the gradients.

    Ψ            numbers in the parameters of the model
    N_d = K, r   ranks (the degree of data parallelism), this one's number
    N, n         numbers of a bucket, and of its shard: n = ceil(N/K)

A bucket's parameters are views of one vector; this rank's optimizer knows its shard of that vector, and no more:

    whole     │ shard 0 │ shard 1 │ shard 2 │ shard 3 │   K·n parameters: the model computes with all of them
                             ▲ optimizer.step() on rank 1

    stage   1. gradients, numbers      2. they travel            3. update        4. parameters travel
    0       N, as long as the model    all-reduce                N on each rank
    1       N, as long as the model    reduce-scatter            n on each rank   all-gather
    2       n; N of two buckets (*)    reduce-scatter            n on each rank   all-gather

    (*) the one that backward computes and the one that is on its way: no other bucket's gradients are there

                bytes a rank, float32 with Adam      numbers a rank sends in a step (N_d dividing Ψ)
    stage 0     4Ψ + 4Ψ + 8Ψ                         2Ψ(K-1)/K, as any all-reduce
    stage 1     4Ψ + 4Ψ + 8Ψ/K                       the same: its two halves, one before and one after the update
    stage 2     4Ψ + 4Ψ/K + 8Ψ/K, and (*)            the same, with one backward pass a step

In stages 1 and 2 padding counts, up to K-1 numbers a bucket: ``lockstep.cost.sharding`` has the exact bytes. An
optimizer that updates each number by itself (SGD, momentum, Adam) does with a shard what it does with the whole. Stage
3, which divides the parameters too, is ``lockstep.sharded.fsdp``.

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

from lockstep.data_parallel.ddp import MEGABYTE, BucketedDDP
from lockstep.errors import UsageError
from lockstep.sharded.zero_buckets import STAGES, Replicated


class Steps(Protocol):
    """An optimizer, as far as it is asked anything here."""

    def step(self) -> Any:
        """Update the tensors that it was made with from their ``grad``."""


Optimizer = Callable[[Sequence[Tensor]], Steps]


class Zero(BucketedDDP):
    """``model`` on every rank of ``group``, trained by ``optimizer(tensors)``, which is given this rank's ``shards``, a
    vector for each bucket.

    After a backward pass each ``shard.grad`` is its part of the mean gradient. In stage 2 each pass is sent, in
    ``no_sync`` too: there is no place where whole gradients could add up.

    ``precision``: the dtype in which the model computes and collectives travel, as torch.bfloat16. The optimizer then
    updates a float32 master of the shard, with a float32 gradient to which micro-batches add up (4 + 12 bytes a number
    of the shard, 2 more than the paper's 2 + 12).

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
