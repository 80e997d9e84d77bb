"""An expert: an MLP of two matrices. Its numbers depend on the layer and on its own number, not on who else is there.

So a rank that has experts 6 and 7 alone has the same two as a rank that has all of them.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Expert(nn.Module):
    """W_down·gelu(W_up·x), without biases: (n, d) to (n, d), and n may be 0. It has 2·d·``hidden`` parameters."""

    def __init__(
        self, width: int, hidden: int, number: int, layer: int = 0, seed: int = 0, dtype: torch.dtype = torch.float32
    ) -> None:
        super().__init__()
        self.up = matrix(hidden, width, 2 * number, layer, seed, dtype)
        self.down = matrix(width, hidden, 2 * number + 1, layer, seed, dtype)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(F.gelu(F.linear(x, self.up)), self.down)


def matrix(
    outputs: int, inputs: int, number: int, layer: int, seed: int, dtype: torch.dtype = torch.float32
) -> nn.Parameter:
    """The matrix ``number`` (outputs, inputs) of a layer's mixture, uniform up to 1/sqrt(inputs) as in ``models``."""
    generator = torch.Generator().manual_seed((seed * 1_000 + layer) * 1_000_000 + number)
    bound = 1 / math.sqrt(inputs)
    return nn.Parameter(torch.empty(outputs, inputs, dtype=dtype).uniform_(-bound, bound, generator=generator))
