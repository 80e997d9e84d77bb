"""A functional model: each layer is a function of its input and of one vector with all its parameters.

    layers = dense([64, 32, 10])          two layers, the second without ReLU
    flat = layers[0].start()              (N,): 64 x 32 weights, then 32 biases; the same on every rank
    h = layers[0](flat, x)                (batch, 64) -> (batch, 32)

A layer holds no parameters. So the caller decides how long the vector lives, which is what sharding is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import pairwise
from typing import Protocol, Self

import torch
from torch import Tensor
from torch.nn import functional as F

from lockstep.models import linear


class Layer(Protocol):
    """``numel``: N, the number of its parameters."""

    numel: int

    def start(self) -> Tensor:
        """The initial parameters: (N,), a new vector, the same on every rank."""

    def __call__(self, flat: Tensor, x: Tensor) -> Tensor:
        """The layer's output for the input ``x``, with the parameters ``flat`` (N,)."""


class Placed:
    """A layer whose ``start()`` returns its vector on ``device``, by default the CPU."""

    device = torch.device("cpu")

    def to(self, device: torch.device) -> Self:
        """The same layer on another device."""
        there = copy(self)
        there.device = device
        return there

    def cut(self, flat: Tensor, sizes: list[int]) -> Sequence[Tensor]:
        """``flat``, split into pieces of ``sizes`` numbers. ValueError unless they add up to its length."""
        if flat.shape != (sum(sizes),):
            have, want = tuple(flat.shape), (sum(sizes),)
            raise ValueError(f"{self!r} takes its parameters in a vector of shape {want}, and this has {have}")
        return torch.split(flat, sizes)


class Dense(Placed):
    """relu(x·Wᵀ + b), or without ReLU. ``flat`` holds W (outputs x inputs), row by row, and then b."""

    def __init__(self, inputs: int, outputs: int, relu: bool, seed: int = 0, index: int = 0) -> None:
        self.inputs, self.outputs, self.relu, self.seed, self.index = inputs, outputs, relu, seed, index
        self.numel = (inputs + 1) * outputs

    def __repr__(self) -> str:
        return f"Dense({self.inputs}, {self.outputs})"

    def start(self) -> Tensor:
        drawn = linear(self.inputs, self.outputs, self.seed, self.index)
        return torch.cat([drawn.weight.detach().flatten(), drawn.bias.detach()]).to(self.device)

    def __call__(self, flat: Tensor, x: Tensor) -> Tensor:
        weight, bias = self.cut(flat, [self.inputs * self.outputs, self.outputs])
        out = F.linear(x, weight.view(self.outputs, self.inputs), bias)
        return F.relu(out) if self.relu else out


def dense(sizes: Sequence[int], seed: int = 0) -> list[Dense]:
    """``dense([64, 32, 10])`` maps (batch, 64) to (batch, 10) by two layers, with ReLU between them."""
    return [
        Dense(inputs, outputs, index < len(sizes) - 2, seed, index)
        for index, (inputs, outputs) in enumerate(pairwise(sizes))
    ]


class Block(Placed):
    """x + relu(x·W1ᵀ + b1)·W2ᵀ + b2, the middle of it ``hidden`` wide. ``flat`` holds W1, W2, b1 and b2.

    For a batch of B examples autograd saves the input, (B, width), and the middle, (B, hidden)."""

    def __init__(self, width: int, hidden: int, seed: int = 0, index: int = 0) -> None:
        self.width, self.hidden, self.seed, self.index = width, hidden, seed, index
        self.numel = 2 * width * hidden + hidden + width

    def __repr__(self) -> str:
        return f"Block({self.width}, {self.hidden})"

    def start(self) -> Tensor:
        up = linear(self.width, self.hidden, self.seed, 2 * self.index)
        down = linear(self.hidden, self.width, self.seed, 2 * self.index + 1)
        return torch.cat([p.detach().flatten() for p in (up.weight, down.weight, up.bias, down.bias)]).to(self.device)

    def __call__(self, flat: Tensor, x: Tensor) -> Tensor:
        area = self.width * self.hidden
        W1, W2, b1, b2 = self.cut(flat, [area, area, self.hidden, self.width])
        middle = F.relu(F.linear(x, W1.view(self.hidden, self.width), b1))
        return x + F.linear(middle, W2.view(self.width, self.hidden), b2)
