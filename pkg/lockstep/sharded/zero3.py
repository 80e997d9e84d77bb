"""ZeRO as plain functions: training a list of layers on K ranks, from DDP to ZeRO-3 with recomputation and prefetch.

    Ψ            numbers of all layers together; N those of one
    n            ceil(N/K), the length of a shard
    held         float32 and Adam: 4 bytes a parameter, 4 a gradient, 8 of optimizer state

    ddp              4Ψ + 4Ψ + 8Ψ              everything, on every rank
    zero1            4Ψ + 4Ψ + 8Ψ/K            optimizer state in shards
    zero2            4Ψ + (4Ψ + 8Ψ)/K          gradients too: each is reduced as soon as it is complete
    zero3            (4Ψ + 4Ψ + 8Ψ)/K          parameters too: a layer is whole only while it computes
    make_it_fit      the same, and of the activations only those between layers: the others are recomputed

Each takes ``layers`` (see ``layers.py``), ``optimizer(tensors)``, which makes an elementwise torch optimizer, and
``batches``, a list of (x, y) with one step each; and returns this rank's shard of each layer, (n,).

This is the algorithm alone, an explicit loop over layers whose parameters are one vector each. What trains any
``nn.Module``, by hooks of autograd, with overlap, mixed precision and accumulation, is ``zero.Zero`` for stages 0 to 2
and ``fsdp.FullySharded`` for stage 3.

``prefetch`` is a forward pass of ZeRO-3 that gathers the next layer while this one computes:

    compute         │        │ layer 0 │ layer 1 │ layer 2 │
    link      ├─ gather 0 ─┤├─ gather 1 ─┤├─ gather 2 ─┤

    without         ├─ gather 0 ─┤ layer 0 ├─ gather 1 ─┤ layer 1 ├─ gather 2 ─┤ layer 2 │

Sources: ZeRO: Rajbhandari et al., arXiv:1910.02054, section 5. Recomputation: Chen et al., arXiv:1604.06174, section 4.
Prefetch: Zhao et al., PyTorch FSDP (arXiv:2304.11277), section 3.3.2, where the host posts the gather of the next unit
before it computes this one; FSDP calls it forward prefetching.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.functional import mse_loss
from torch.optim import Optimizer

from lockstep.sharded.flat import gathered, reduced_shard, shard_of
from lockstep.sharded.layers import Layer

MakeOptimizer = Callable[[Iterable[Tensor]], Optimizer]
Batches = Sequence[tuple[Tensor, Tensor]]
Group = dist.ProcessGroup | None


# ---- the gradients of one step


def fully_shard_model(
    layers: Sequence[Layer], shards: Sequence[Tensor], x: Tensor, y: Tensor, group: Group = None
) -> list[Tensor]:
    """This rank's shard (n,) of the mean gradient of each layer, for the loss mse_loss(output, y).

    layer i, forward    1 all-gather ── 2 compute ── 3 free
            backward    4 all-gather ── 5 compute ── 6 reduce-scatter ── 7 free

    Autograd saves the whole vector for the backward pass. So 3 empties the vector's storage, and 4 fills the same
    storage again. ``fully_shard`` of torch does the same.
    """
    shards = [shard.detach().requires_grad_() for shard in shards]
    for layer, shard in zip(layers, shards, strict=True):
        flat = Whole.apply(shard, layer.numel, group)  # type: ignore[no-untyped-call]  # 1
        x = layer(flat, x)  # 2
        flat.untyped_storage().resize_(0)  # 3
        x.register_hook(partial(_refill, flat.data, shard.data, group))  # type: ignore[no-untyped-call]
        del flat
    mse_loss(x, y).backward()  # type: ignore[no-untyped-call]  # 5
    return [_gradient(shard) for shard in shards]


class Whole(torch.autograd.Function):
    """Forward, the whole vector of a shard; backward, the shard of the mean of its gradient over the ranks."""

    @staticmethod
    def forward(ctx: Any, shard: Tensor, N: int, group: Group) -> Tensor:
        flat = gathered(shard, N, group)
        ctx.group, ctx.storage = group, flat.untyped_storage()
        return flat

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        shard = reduced_shard(gradients[0], ctx.group)  # 6
        ctx.storage.resize_(0)  # 7
        return shard, None, None


def _refill(flat: Tensor, shard: Tensor, group: Group, _: Tensor) -> None:
    """Hook on the gradient of the layer's output, so called just before the layer's backward pass."""
    storage = flat.untyped_storage()
    storage.resize_(dist.get_world_size(group) * shard.nbytes)
    dist.all_gather_into_tensor(shard.new_empty(0).set_(storage), shard, group=group)  # 4


def recomputed(
    layers: Sequence[Layer], shards: Sequence[Tensor], x: Tensor, y: Tensor, group: Group = None
) -> list[Tensor]:
    """The same gradients, with each layer's forward pass computed twice, so that only its input is kept."""
    inputs = []
    with torch.no_grad():
        for layer, shard in zip(layers, shards, strict=True):
            inputs.append(x)
            x = layer(gathered(shard, layer.numel, group), x)
    x.requires_grad_()
    (flowing,) = torch.autograd.grad(mse_loss(x, y), x)  # the loss's gradient with respect to the last output
    del x
    found = []
    for layer, shard in zip(reversed(layers), reversed(shards), strict=True):
        flat, h = gathered(shard, layer.numel, group).requires_grad_(), inputs.pop().detach().requires_grad_()
        gradient, flowing = torch.autograd.grad(layer(flat, h), (flat, h), flowing)
        del flat, h
        found.append(reduced_shard(gradient, group))
    return found[::-1]


# ---- a forward pass with prefetch


class Arriving(NamedTuple):
    """A layer's vector with its padding, and the all-gather that fills it."""

    whole: Tensor
    work: dist.Work

    def wait(self, N: int) -> Tensor:
        """The vector (N,), once it has arrived."""
        self.work.wait()
        return self.whole[:N]


def posted(shard: Tensor, group: Group = None) -> Arriving:
    """Start to gather the whole vector (K·n,) from all ranks' shards (n,), without waiting."""
    whole = shard.new_empty(dist.get_world_size(group) * len(shard))
    work = dist.all_gather_into_tensor(whole, shard, group=group, async_op=True)
    assert work is not None
    return Arriving(whole, work)


def prefetch(layers: Sequence[Layer], shards: Sequence[Tensor], x: Tensor, group: Group = None) -> Tensor:
    """The model's output for ``x``, from ``shards[i]`` (n,) of each layer i. At most two layers are whole.

    The order matters: posted after (3), the gather overlaps with nothing; posted one layer earlier, three layers are
    whole at once."""
    arriving = posted(shards[0], group)
    for i, layer in enumerate(layers):
        flat = arriving.wait(layer.numel)  # (1)
        if i + 1 < len(layers):
            arriving = posted(shards[i + 1], group)  # (2)
        x = layer(flat, x)  # (3)
        del flat  # (4)
    return x


def one_after_the_other(layers: Sequence[Layer], shards: Sequence[Tensor], x: Tensor, group: Group = None) -> Tensor:
    """The same output without prefetch: the link is idle while a layer computes, and the rank while it waits."""
    for layer, shard in zip(layers, shards, strict=True):
        x = layer(posted(shard, group).wait(layer.numel), x)
    return x


# ---- training


def sequential(layers: Sequence[Layer], optimizer: MakeOptimizer, batches: Batches) -> list[Tensor]:
    """On one rank, without communication: the whole vectors, (N,)."""
    flats = [layer.start().requires_grad_() for layer in layers]
    steps = optimizer(flats)
    for x, y in batches:
        steps.zero_grad()
        _loss(layers, flats, x, y).backward()  # type: ignore[no-untyped-call]
        steps.step()
    return [flat.detach() for flat in flats]


def ddp(layers: Sequence[Layer], optimizer: MakeOptimizer, batches: Batches, group: Group = None) -> list[Tensor]:
    """Everything on every rank; gradients are all-reduced."""
    flats = [layer.start().requires_grad_() for layer in layers]
    steps = optimizer(flats)
    for x, y in batches:
        _loss(layers, flats, x, y).backward()  # type: ignore[no-untyped-call]
        for flat in flats:
            dist.all_reduce(_gradient(flat), group=group)
            _gradient(flat).div_(dist.get_world_size(group))
        steps.step()
        steps.zero_grad()
    return _own(flats, group)


def zero1(layers: Sequence[Layer], optimizer: MakeOptimizer, batches: Batches, group: Group = None) -> list[Tensor]:
    """Each rank updates only its shard, so that it has optimizer state for nothing else; then shards are gathered."""
    flats = [layer.start().requires_grad_() for layer in layers]
    shards = _own(flats, group)
    steps = optimizer(shards)
    for x, y in batches:
        _loss(layers, flats, x, y).backward()  # type: ignore[no-untyped-call]
        for flat, shard in zip(flats, shards, strict=True):
            shard.grad, flat.grad = reduced_shard(_gradient(flat), group), None
        _step_and_gather(steps, flats, shards, group)
    return shards


def zero2(layers: Sequence[Layer], optimizer: MakeOptimizer, batches: Batches, group: Group = None) -> list[Tensor]:
    """Each gradient is reduced during the backward pass, as soon as it is complete: no two are whole at once."""
    flats = [layer.start().requires_grad_() for layer in layers]
    shards = _own(flats, group)
    steps = optimizer(shards)

    def reduce(flat: Tensor, shard: Tensor) -> None:
        shard.grad, flat.grad = reduced_shard(_gradient(flat), group), None

    for flat, shard in zip(flats, shards, strict=True):
        flat.register_post_accumulate_grad_hook(partial(reduce, shard=shard))  # type: ignore[no-untyped-call]
    for x, y in batches:
        _loss(layers, flats, x, y).backward()  # type: ignore[no-untyped-call]
        _step_and_gather(steps, flats, shards, group)
    return shards


def zero3(layers: Sequence[Layer], optimizer: MakeOptimizer, batches: Batches, group: Group = None) -> list[Tensor]:
    """No rank holds more than its shards and the layer that is computing."""
    return _sharded(fully_shard_model, layers, optimizer, batches, group)


def make_it_fit(
    layers: Sequence[Layer], optimizer: MakeOptimizer, batches: Batches, group: Group = None
) -> list[Tensor]:
    """ZeRO-3 with recomputation: of the activations, only the inputs of layers and those of one layer are alive."""
    return _sharded(recomputed, layers, optimizer, batches, group)


def _sharded(
    gradients: Callable[..., list[Tensor]],
    layers: Sequence[Layer],
    optimizer: MakeOptimizer,
    batches: Batches,
    group: Group,
) -> list[Tensor]:
    shards = [_own([layer.start()], group)[0] for layer in layers]
    steps = optimizer(shards)
    for x, y in batches:
        for shard, gradient in zip(shards, gradients(layers, shards, x, y, group), strict=True):
            shard.grad = gradient
        steps.step()
        steps.zero_grad()
    return shards


def _loss(layers: Sequence[Layer], flats: Sequence[Tensor], x: Tensor, y: Tensor) -> Tensor:
    for layer, flat in zip(layers, flats, strict=True):
        x = layer(flat, x)
    return mse_loss(x, y)


def _own(flats: Sequence[Tensor], group: Group) -> list[Tensor]:
    r, K = dist.get_rank(group), dist.get_world_size(group)
    return [shard_of(flat.detach(), r, K) for flat in flats]


def _step_and_gather(steps: Optimizer, flats: Sequence[Tensor], shards: Sequence[Tensor], group: Group) -> None:
    steps.step()
    steps.zero_grad()
    for flat, shard in zip(flats, shards, strict=True):
        flat.detach().copy_(gathered(shard, len(flat), group))


def _gradient(tensor: Tensor) -> Tensor:
    assert tensor.grad is not None
    return tensor.grad
