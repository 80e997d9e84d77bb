"""Training a list of layers on K ranks, and what each rank has to hold: from DDP to ZeRO 3 with recomputation.

    Ψ            numbers of all layers together; N those of one
    n            ceil(N/K), a shard
    held         float32 and Adam: 4 bytes a parameter, 4 a gradient, 8 of optimizer state

    ddp              4Ψ + 4Ψ + 8Ψ              everything, on every rank
    zero1            4Ψ + 4Ψ + 8Ψ/K            optimizer state in shards
    zero2            4Ψ + (4Ψ + 8Ψ)/K          gradients too: each is reduced as soon as it is there
    zero3            (4Ψ + 4Ψ + 8Ψ)/K          parameters too: a layer is whole only while it is computed
    make_it_fit      the same, and of the activations only those between layers: the others are computed again

Each takes ``layers`` (see ``layers.py``), ``optimizer(tensors)``, which makes a torch optimizer that works element by
element, and ``batches``, a list of (x, y) with one step each; and gives this rank's shard of each layer, (n,).
ZeRO: Rajbhandari et al., arXiv:1910.02054, section 5. Recomputation: Chen et al., arXiv:1604.06174, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

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


# ---- one step


def fully_shard_model(
    layers: Sequence[Layer], shards: Sequence[Tensor], x: Tensor, y: Tensor, group: Group = None
) -> list[Tensor]:
    """This rank's shard of the mean gradient of each layer, (n,), of the loss mse_loss(output, y).

    layer i, forward    1 all-gather ── 2 compute ── 3 let go
            backward    4 all-gather ── 5 compute ── 6 reduce-scatter ── 7 let go

    Autograd remembers the whole vector for its backward pass. So 3 empties the vector's storage, and 4 fills the same
    one again. ``fully_shard`` of torch does the same.
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
    """The whole vector of a shard; and of the whole vector's gradient the shard of its mean over the ranks."""

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
    """Before the layer's backward pass: its output's gradient has just been computed."""
    storage = flat.untyped_storage()
    storage.resize_(dist.get_world_size(group) * shard.nbytes)
    dist.all_gather_into_tensor(shard.new_empty(0).set_(storage), shard, group=group)  # 4


def recomputed(
    layers: Sequence[Layer], shards: Sequence[Tensor], x: Tensor, y: Tensor, group: Group = None
) -> list[Tensor]:
    """The same gradients; each layer's forward pass is computed twice, so that only its input is remembered."""
    inputs = []
    with torch.no_grad():
        for layer, shard in zip(layers, shards, strict=True):
            inputs.append(x)
            x = layer(gathered(shard, layer.numel, group), x)
    x.requires_grad_()
    (flowing,) = torch.autograd.grad(mse_loss(x, y), x)  # the loss's gradient by the last output
    del x
    found = []
    for layer, shard in zip(reversed(layers), reversed(shards), strict=True):
        flat, h = gathered(shard, layer.numel, group).requires_grad_(), inputs.pop().requires_grad_()
        gradient, flowing = torch.autograd.grad(layer(flat, h), (flat, h), flowing)
        del flat, h
        found.append(reduced_shard(gradient, group))
    return found[::-1]


# ---- training


def sequential(layers: Sequence[Layer], optimizer: MakeOptimizer, batches: Batches) -> list[Tensor]:
    """On one rank, without any other: the whole vectors, (N,)."""
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
    """Each rank steps its shard only, so that only this has optimizer state; then the shards are gathered."""
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
    """A gradient is reduced within the backward pass, as soon as it is complete: no two are whole at once."""
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
    """No rank holds more than its shards and the layer that is computed."""
    return _sharded(fully_shard_model, layers, optimizer, batches, group)


def make_it_fit(
    layers: Sequence[Layer], optimizer: MakeOptimizer, batches: Batches, group: Group = None
) -> list[Tensor]:
    """Nor more activations than a number for each between two layers, and those of one layer."""
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
