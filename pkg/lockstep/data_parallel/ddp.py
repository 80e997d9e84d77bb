"""Distributed data parallel: gradients are all-reduced in buckets while the backward pass computes earlier layers.

    backward pass   ├── layer 4 ──┼── layer 3 ──┼── layer 2 ──┼── layer 1 ──┤
    all-reduce                    ├─ bucket 1 (4) ─┤          ├─ bucket 2 (3, 2) ─┼─ bucket 3 (1) ─┤
                                                                                               wait ┤

Four rules make it correct on any number of ranks:

1. All ranks launch their buckets in the same order. A bucket that is full early waits for those before it; otherwise
   one rank's bucket 2 would be added to another's bucket 3.
2. A parameter counts once, when its gradient is complete, however often the model uses it.
3. A parameter that a rank has not used counts as zeros, and is launched at the end of the pass: the other ranks wait
   for it.
4. The mean, not the sum: with equal shares of the batch it is the gradient of the whole batch.

Source: Li et al., PyTorch Distributed: Experiences on Accelerating Data Parallel Training (VLDB 2020), sections 3.2 and
4.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.autograd import Variable

from lockstep.errors import UsageError

MEGABYTE = 2**20


def in_buckets(parameters: Sequence[Tensor], bucket_bytes: float) -> list[list[Tensor]]:
    """The parameters, last ones first, in buckets: a bucket is full when it holds ``bucket_bytes`` or more. All
    parameters of a bucket have the same dtype and device."""
    buckets: list[list[Tensor]] = []
    for p in reversed(parameters):
        full = not buckets or sum(q.nbytes for q in buckets[-1]) >= bucket_bytes
        if full or (p.dtype, p.device) != (buckets[-1][0].dtype, buckets[-1][0].device):
            buckets.append([])
        buckets[-1].append(p)
    return buckets


def bucketed_ddp(
    model: nn.Module, batch: Tensor, bucket_bytes: float, group: dist.ProcessGroup | None = None
) -> list[Tensor]:
    """The gradients of ``model(batch)``, each the mean over the ranks, in the order of ``model.parameters()``: one
    backward pass in its simplest form. Every parameter must get a gradient on every rank."""
    parameters = list(model.parameters())
    buckets = in_buckets(parameters, bucket_bytes)
    complete: dict[Tensor, Any] = {}
    travelling: list[tuple[Tensor, Any]] = []

    def arrived(p: Tensor) -> None:
        complete[p] = p.grad
        while len(travelling) < len(buckets) and all(q in complete for q in buckets[len(travelling)]):
            flat = torch.cat([complete[q].flatten() for q in buckets[len(travelling)]])
            travelling.append((flat, dist.all_reduce(flat, group=group, async_op=True)))

    hooks = [p.register_post_accumulate_grad_hook(arrived) for p in parameters]  # type: ignore[no-untyped-call]
    model(batch).backward()
    for hook in hooks:
        hook.remove()
    mean: dict[Tensor, Tensor] = {}
    for bucket, (flat, transfer) in zip(buckets, travelling, strict=True):
        transfer.wait()
        pieces = torch.split(flat / dist.get_world_size(group), [p.numel() for p in bucket])
        mean |= {p: piece.view_as(p) for p, piece in zip(bucket, pieces, strict=True)}
    return [mean[p] for p in parameters]


class Bucket:
    """Gradients that share one all-reduce. ``flat`` holds them one after the other, and each ``p.grad`` becomes a view
    of it: nothing is copied back, and gradients take their memory once."""

    def __init__(self, parameters: Sequence[Tensor]) -> None:
        self.parameters = list(parameters)
        sizes = [p.numel() for p in parameters]
        self.flat = parameters[0].new_zeros(sum(sizes), requires_grad=False)
        self.views = {p: piece.view_as(p) for p, piece in zip(parameters, torch.split(self.flat, sizes), strict=True)}
        self.missing = set(parameters)
        self.transfer: Any = None

    def take(self, p: Tensor) -> None:
        """The gradient of ``p`` is complete; if there is none, it is zero."""
        view = self.views[p]
        if p.grad is None:
            view.zero_()
        elif p.grad is not view:
            view.copy_(p.grad)
        p.grad = view
        self.missing.discard(p)

    def launch(self, group: dist.ProcessGroup | None) -> None:
        self.flat /= dist.get_world_size(group)
        self.transfer = dist.all_reduce(self.flat, group=group, async_op=True)

    def land(self) -> None:
        self.transfer.wait()
        self.missing = set(self.views)


class BucketedDDP(nn.Module):
    """``model`` on every rank of ``group``, with the same parameters: after ``backward()`` each ``p.grad`` is the mean
    over the ranks, a view of its bucket.

    Parameters and buffers are broadcast from the group's first rank, and buffers (running statistics) again before each
    forward pass in training. A parameter that no rank has used has a gradient of zeros, where torch leaves None: for
    SGD without momentum and weight decay that is the same. A backward pass within the pass (a re-entrant checkpoint) is
    synchronised by itself: its gradients are correct, and sent twice. All ranks must call ``backward`` equally often.
    """

    def __init__(
        self, model: nn.Module, bucket_bytes: float = 25 * MEGABYTE, group: dist.ProcessGroup | None = None
    ) -> None:
        super().__init__()
        parameters = [p for p in model.parameters() if p.requires_grad]
        if not parameters:
            raise UsageError("The model has no parameter that requires a gradient.", "There is nothing to synchronise.")
        self.module, self.group = model, group
        self._statistics = list(model.buffers())
        self._broadcast([*model.parameters(), *self._statistics])
        self.buckets = [self.bucket_of(bucket) for bucket in in_buckets(parameters, bucket_bytes)]
        self.synchronises = True
        self._bucket_of = {p: bucket for bucket in self.buckets for p in bucket.parameters}
        self._launched = 0  # of the buckets, in this backward pass
        self._in_pass = False
        for p in parameters:
            p.register_post_accumulate_grad_hook(self._arrived)  # type: ignore[no-untyped-call]

    def bucket_of(self, parameters: Sequence[Tensor]) -> Bucket:
        """The bucket of these parameters. ZeRO's stages override it."""
        return Bucket(parameters)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The model's output for this rank's share of the batch."""
        if self.synchronises and self.module.training:
            self._broadcast(self._statistics)
        return self.module(*args, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Accumulate the gradients of backward passes in ``p.grad`` without communication: the next backward pass
        outside reduces the sums."""
        before, self.synchronises = self.synchronises, False
        try:
            yield
        finally:
            self.synchronises = before

    def _arrived(self, p: Tensor) -> None:
        """Autograd's hook, called when ``p.grad`` is complete for this backward pass."""
        if not self.synchronises:
            return
        if not self._in_pass:
            self._in_pass = True
            Variable._execution_engine.queue_callback(self._finish)
        self._bucket_of[p].take(p)
        while self._launched < len(self.buckets) and not self.buckets[self._launched].missing:
            self._launch_next()

    def _launch_next(self) -> None:
        self.buckets[self._launched].launch(self.group)
        self._launched += 1

    def _finish(self) -> None:
        """Autograd's callback at the end of the backward pass."""
        while self._launched < len(self.buckets):
            bucket = self.buckets[self._launched]
            for p in list(bucket.missing):
                bucket.take(p)
            self._launch_next()
        for bucket in self.buckets:
            bucket.land()
        self._launched, self._in_pass = 0, False

    def _broadcast(self, tensors: Iterable[Tensor]) -> None:
        for tensor in tensors:
            dist.broadcast(tensor.detach(), group=self.group, group_src=0)
