"""A ZeRO-3 step and a prefetching forward pass with one decision left open: the learner's lines of lesson 08 run here.

``sharded/zero3.py`` has the complete algorithms.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import islice
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import Parameter
from torch.nn.functional import mse_loss

from lockstep.errors import UsageError
from lockstep.experiments.fsdp.port_bytes import through_a_port
from lockstep.machines import Cluster, Device, find
from lockstep.sharded.flat import gathered, reduced_shard, shard_length, shard_of
from lockstep.sharded.layers import Layer, dense
from lockstep.tables import Table
from lockstep.tally import counted
from lockstep.worlds import Result, run

GatherOrder = Callable[[int], Iterable[int]]  # how many layers -> which are gathered, one after another
MostWhole = Callable[[Sequence[int], int], int]  # (sizes, how many are fetched ahead) -> numbers whole at once

RANKS, LAYERS, WIDTH, ROWS = 4, 8, 64, 16


def forward(layers: Sequence[Layer], shards: Sequence[Tensor], x: Tensor) -> Tensor:
    for layer, shard in zip(layers, shards, strict=True):
        flat = gathered(shard, layer.numel)  # an all-gather
        x = layer(flat, x)
        del flat  # let go
    return x


# ---- in which order layers are gathered


def step_in_order(layers: Sequence[Layer], x: Tensor, y: Tensor, order: Iterable[int]) -> list[Tensor]:
    """On a rank: its shard of each layer's mean gradient. A layer that is needed and not whole must be next in
    ``order``."""
    shards = [shard_of(layer.start(), dist.get_rank(), dist.get_world_size()) for layer in layers]
    coming, whole, inputs = iter(order), dict[int, Tensor](), list[Tensor]()

    def need(i: int) -> Tensor:
        if i not in whole:
            check_next(next(coming, None), i)
            whole[i] = gathered(shards[i], layers[i].numel)
        return whole[i]

    for i, layer in enumerate(layers):
        inputs.append(x)
        x = layer(need(i), x)
        if i + 1 < len(layers):  # the last one is needed next
            del whole[i]
    (flowing,) = torch.autograd.grad(mse_loss(x.requires_grad_(), y), x)
    found = list[Tensor]()
    for i in reversed(range(len(layers))):
        flat, h = need(i).requires_grad_(), inputs.pop().requires_grad_()
        gradient, flowing = torch.autograd.grad(layers[i](flat, h), (flat, h), flowing)
        del whole[i], flat
        found.append(reduced_shard(gradient))
    return found[::-1]


def check_next(given: int | None, needed: int) -> None:
    if given != needed:
        brings = "has nothing left" if given is None else f"brings layer {given}"
        raise UsageError(f"Now layer {needed} is needed, and your order {brings}.")


def rows_of(rank: int) -> tuple[Tensor, Tensor]:
    """This rank's inputs and targets, each (ROWS, WIDTH)."""
    generator = torch.Generator().manual_seed(rank)
    x, y = torch.randn(2, ROWS, WIDTH, generator=generator)
    return x, y


def ordered(gather_order: GatherOrder) -> Result:
    """A step of ``LAYERS`` dense layers on ``RANKS`` ranks, gathered in the order that the line gives."""
    return run(_ordered, list(gather_order(LAYERS)), ranks=RANKS, on="dgx-a100")


def _ordered(order: Sequence[int]) -> list[Tensor]:
    return step_in_order(dense([WIDTH] * (LAYERS + 1)), *rows_of(dist.get_rank()), order)


def order_table(gather_order: GatherOrder) -> Table:
    """The bytes that a rank sends in a step with the learner's order, next to DDP's all-reduce."""
    done = ordered(gather_order)
    numbers = sum(layer.numel for layer in dense([WIDTH] * (LAYERS + 1)))
    ddp = 2 * (RANKS - 1) / RANKS * 4 * numbers
    head = ["", "all-gathers", "reduce-scatters", "all-reduces", "kB through a port", "times DDP"]
    kinds = [e.kind for e in done.trace.of_rank(0)]
    port = through_a_port(done.trace)
    rows = [
        ["by your line", f"{kinds.count('all_gather')}", f"{kinds.count('reduce_scatter')}", "0", f"{port / 1e3:.0f}",
         f"{port / ddp:.2f}"],
        ["DDP", "0", "0", f"{LAYERS}", f"{ddp / 1e3:.0f}", "1.00"],
    ]  # fmt: skip
    return Table(f"One step of {LAYERS} layers on {RANKS} ranks", head, rows)


# ---- how many layers are fetched ahead

V100 = find("dgx-v100")  # eight, each in a node of its own; what memory costs is left out
FLAT = Cluster("flat", Device("flat", V100.device.flops, 1e30, 10**15, 0.0), 1, V100.between, V100.between)
NODES, WIDTHS = 8, (2048, 4096, 4096, 4096, 2048, 2048, 4096, 4096, 2048)
BATCH, NO_BATCH = 4000, 1  # rows; with one row, activations are next to nothing


class DenseLayer(torch.nn.Module):
    """A layer while its parameters are whole: as a module, so that figures speak of layers and parameters."""

    def __init__(self, layer: Layer, whole: Tensor) -> None:
        super().__init__()
        self.flat = Parameter(whole[: layer.numel], requires_grad=False)
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(self.flat, x)


def fetched_ahead(widths: Sequence[int], rows: int, ahead: int) -> None:
    """On a rank: a forward pass, in which up to ``ahead`` layers are under way while one computes."""
    ranks, layers = dist.get_world_size(), dense(widths)
    kept = [Parameter(torch.empty(shard_length(layer.numel, ranks)), requires_grad=False) for layer in layers]
    shards = iter(torch.nn.ParameterList(kept))
    under_way = deque[tuple[Tensor, Any]]()

    def post(count: int) -> None:
        """So many are under way, as far as there are any."""
        for shard in islice(shards, count - len(under_way)):
            whole = shard.new_empty(ranks * len(shard))
            under_way.append((whole, dist.all_gather_into_tensor(whole, shard, async_op=True)))

    x = torch.empty(rows, widths[0])
    for layer in layers:
        post(max(1, ahead))
        whole, work = under_way.popleft()
        work.wait()
        post(ahead)
        x = DenseLayer(layer, whole)(x)
        del whole, work


def ahead_run(ahead: int, rows: int = BATCH) -> Result:
    """A forward pass, without data; ``.show()`` draws it."""
    return _ahead_run(ahead, rows)


@cache
def _ahead_run(ahead: int, rows: int) -> Result:
    return run(fetched_ahead, WIDTHS, rows, ahead, ranks=NODES, on=FLAT, fake=True)


def ahead_table(most_whole: MostWhole) -> Table:
    """How many layers are fetched ahead: what is whole at once by the line and in a run, and how long a pass takes."""
    sizes = [layer.numel for layer in dense(WIDTHS)]
    shards = sum(4 * shard_length(N, NODES) for N in sizes)
    rows = [
        [f"{ahead}", f"{4 * most_whole(sizes, ahead) / 1e6:.0f}",
         f"{(ahead_run(ahead, NO_BATCH).memory[0].peak - shards) / 1e6:.0f}", f"{ahead_run(ahead).time * 1e3:.1f}"]
        for ahead in counted((0, 1, 2), "Running")
    ]  # fmt: skip
    head = ["fetched ahead", "MB whole, by your line", "MB whole, in the run", "ms of a forward pass"]
    return Table(f"{len(sizes)} layers of unequal size on {NODES} GPUs", head, rows)
