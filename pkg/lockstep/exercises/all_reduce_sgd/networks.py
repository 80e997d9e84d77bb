"""Networks of whole numbers: their gradients, and means of these over the ranks, are exact in float32."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.models import mlp

USED = 3  # of a unit's inputs: numbers stay small


class Loss(nn.Module):
    """``network`` and a loss: each gradient is a multiple of ``scale``, which can be the number of ranks."""

    def __init__(self, network: nn.Module, scale: int) -> None:
        super().__init__()
        self.network, self.scale = network, scale

    def forward(self, batch: Tensor) -> Tensor:
        loss: Tensor = self.network(batch).sum() * self.scale
        return loss


class Again(nn.Module):
    """Uses the matrix of a later layer, whose gradient is complete only when this one's backward pass is over."""

    def __init__(self, owner: Any) -> None:
        super().__init__()
        self.owner = [owner]  # in a list: its parameters are not this one's

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.owner[0].weight)


def widths(layers: int, seed: int, equal: bool = False) -> list[int]:
    """Of the batch, and of what each layer makes of it. A matrix that is used twice needs equal ones."""
    draw = random.Random(seed)
    found = [draw.randint(9, 16) for _ in range(layers + 1)]
    return found[:1] * len(found) if equal else found


def network(sizes: Sequence[int], seed: int, tied: bool = False) -> nn.Sequential:
    """Linear layers and ReLU. ``tied``: the first layer is the last one's matrix."""
    drawn, layers = torch.Generator().manual_seed(seed), mlp(sizes)
    if tied:
        layers[0] = Again(layers[-1])
    for p in layers.parameters():
        chosen = torch.rand(p.shape, generator=drawn).argsort(dim=-1) < USED
        p.data = chosen * torch.where(torch.rand(p.shape, generator=drawn) < 0.2, -1.0, 1.0)
    return layers
