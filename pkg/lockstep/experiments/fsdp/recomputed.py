"""Activation checkpointing measured: what is alive and what is computed, by formula, in our run and in torch's.

``torch.utils.checkpoint.checkpoint_sequential`` is torch's `in_segments`: it leaves the last segment plain, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint_sequential

from lockstep.models import linear
from lockstep.sharded.activation_checkpointing import alive_at_peak, best_segments, in_segments
from lockstep.tables import Table
from lockstep.worlds import run

EXAMPLES, WIDTH = 64, 32

Run = Callable[[Sequence[nn.Module], int, Tensor], Tensor]


class Found(NamedTuple):
    """A training step: the gradients in one vector, the outputs of layers alive at the peak (including the loss's), and
    its FLOPs in multiples of a forward pass."""

    gradients: Tensor
    alive: float
    work: float


def by_torch(layers: Sequence[nn.Module], S: int, x: Tensor) -> Tensor:
    output: Tensor = checkpoint_sequential(layers, S, x, use_reentrant=False)  # type: ignore[no-untyped-call]
    return output


def step(forward: Run, L: int, S: int, dropout: float = 0.0) -> Found:
    """A step of L layers in S segments, on one rank."""
    result = run(_gradients, forward, L, S, dropout, ranks=1, on="dgx-a100")
    output, once = EXAMPLES * WIDTH * 4, L * 2 * EXAMPLES * WIDTH * WIDTH
    flops = sum(event.flops for event in result.trace.of_rank(0))
    return Found(result.values[0], result.memory[0].peaks["activations"] / output, flops / once)


def recomputed_table(L: int = 16) -> Table:
    """The results without checkpointing, with √L segments, and with a segment for each layer."""
    rows = []
    for S in (1, best_segments(L), L):
        ours, torchs = step(in_segments, L, S), step(by_torch, L, S)
        same = "the same bits" if torch.equal(ours.gradients, torchs.gradients) else "others"
        numbers = (ours.alive, torchs.alive, ours.work, torchs.work)
        rows.append([f"{S}", f"{alive_at_peak(L, S) + 1}", *(f"{x:.1f}" for x in numbers), same])
    head = ["segments", "S + L/S + 1", "alive", "torch's", "work", "torch's work", "torch's gradients"]
    title = f"{L} layers: outputs that are alive at the peak (+ 1: the loss's), and work in forward passes"
    return Table(title, head, rows)


def _gradients(forward: Run, L: int, S: int, dropout: float) -> Tensor:
    torch.manual_seed(3)
    last = [nn.Dropout(dropout)] if dropout else []
    layers = [nn.Sequential(linear(WIDTH, WIDTH, 0, index), nn.Tanh(), *last) for index in range(L)]
    x = torch.linspace(-1, 1, EXAMPLES * WIDTH).view(EXAMPLES, WIDTH)
    forward(layers, S, x).square().mean().backward()  # type: ignore[no-untyped-call]
    return torch.cat([p.grad.flatten() for layer in layers for p in layer.parameters() if p.grad is not None])
