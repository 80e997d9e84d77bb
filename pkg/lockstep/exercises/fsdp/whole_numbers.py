"""Models of small whole numbers, whose sums are exact in float32: what one rank computes, to compare with K ranks."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import torch
from torch import Tensor

from lockstep.sharded.flat import shard_length, shard_of
from lockstep.sharded.layers import Dense, dense

WIDEST = 36


class Exact(NamedTuple):
    """Layers, and the vector (N,) of each: of -1, 0 and 1, so that ``layer.start()`` is not it."""

    layers: list[Dense]
    flats: list[Tensor]

    @classmethod
    def drawn(cls, layers: int, seed: int) -> Exact:
        """A single layer has two numbers, fewer than three ranks; bfloat16 cannot hold them."""
        dice, generator = Random(seed), torch.Generator().manual_seed(seed)
        made = dense([dice.randint(30, WIDEST) for _ in range(layers + 1)] if layers > 1 else [1, 1])
        flats = [torch.randint(-1, 2, (layer.numel,), generator=generator).float() for layer in made]
        return cls(made, flats if layers > 1 else [513 + 2 * flat for flat in flats])

    def shards(self, r: int, K: int) -> list[Tensor]:
        return [shard_of(flat, r, K) for flat in self.flats]

    def output(self, x: Tensor) -> Tensor:
        for layer, flat in zip(self.layers, self.flats, strict=True):
            x = layer(flat, x)
        return x

    def nbytes(self, K: int) -> list[int]:
        """Of each layer's whole vector, padding included."""
        return [4 * K * shard_length(layer.numel, K) for layer in self.layers]

    def products(self, examples: int) -> list[int]:
        """FLOPs of each layer's forward pass."""
        return [2 * examples * layer.inputs * layer.outputs for layer in self.layers]
