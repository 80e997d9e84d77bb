"""Small models to train, the same on every rank and in every process.

Each layer draws its parameters from a generator of its own, seeded by the model's seed and the layer's index. So two
ranks that build the same model hold the same bits; who builds only some of the layers gets the same ones; and the
program's own random numbers go on as if no model had been built.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Layer = TypeVar("Layer", bound=nn.Module)


def mlp(sizes: Sequence[int], seed: int = 0, dtype: torch.dtype = torch.float32) -> nn.Sequential:
    """Linear layers with ReLU between them: ``mlp([64, 32, 10])`` maps (n, 64) to (n, 10)."""
    layers: list[nn.Module] = []
    for index, (inputs, outputs) in enumerate(pairwise(sizes)):
        layers += [linear(inputs, outputs, seed, index, dtype), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def batch_normed(sizes: Sequence[int], seed: int = 0, dtype: torch.dtype = torch.float32) -> nn.Sequential:
    """The same with batch normalisation before each ReLU: an example's output depends on the others of its batch."""
    layers: list[nn.Module] = []
    for index, (inputs, outputs) in enumerate(pairwise(sizes)):
        layers += [linear(inputs, outputs, seed, index, dtype), nn.BatchNorm1d(outputs, dtype=dtype), nn.ReLU()]
    return nn.Sequential(*layers[:-2])


def small_convnet(seed: int = 0, dtype: torch.dtype = torch.float32) -> nn.Sequential:
    """For pictures of 8x8 points: (n, 1, 8, 8) to the scores of ten digits, (n, 10). It has 1,898 parameters."""
    return nn.Sequential(
        _drawn(nn.Conv2d(1, 8, kernel_size=3, padding=1, dtype=dtype, device="meta"), seed, 0),
        nn.ReLU(),
        nn.MaxPool2d(2),
        _drawn(nn.Conv2d(8, 16, kernel_size=3, padding=1, dtype=dtype, device="meta"), seed, 1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        linear(64, 10, seed, 2, dtype),
    )


class Tied(nn.Module):
    """An autoencoder of one matrix W, used twice: ``relu(x @ W.T) @ W``. Its gradient is the sum of both uses."""

    def __init__(self, width: int, seed: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = linear(width, max(1, width // 2), seed, 0, dtype).weight

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x @ self.weight.T) @ self.weight


def tied(width: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tied:
    """Encoder and decoder that share their weights: (n, width) to (n, width), through half as many numbers."""
    return Tied(width, seed, dtype)


def linear(inputs: int, outputs: int, seed: int, index: int, dtype: torch.dtype = torch.float32) -> nn.Linear:
    """The linear layer number ``index`` of the model with that seed."""
    return _drawn(nn.Linear(inputs, outputs, dtype=dtype, device="meta"), seed, index)


def parameters_of(model: nn.Module) -> int:
    """How many numbers it learns; those that it uses twice count once."""
    return sum(p.numel() for p in model.parameters())


def _drawn(layer: Layer, seed: int, index: int) -> Layer:
    """``layer``, so far without numbers, with uniform ones up to 1/sqrt(fan-in), as torch draws them."""
    layer.to_empty(device="cpu")
    generator = torch.Generator().manual_seed(seed * 1_000 + index)
    bound = 1 / math.sqrt(next(layer.parameters())[0].numel())
    for parameter in layer.parameters():
        nn.init.uniform_(parameter, -bound, bound, generator=generator)
    return layer
