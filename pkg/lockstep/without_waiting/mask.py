"""A mask: numbers that nobody knows who does not know the secret that they were drawn by."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

M = 2**32


@dataclass(frozen=True)
class Mask:
    """``mask(secret)``: numbers from 0 to 2**32 - 1, int64, of this shape; the same for the same secret."""

    shape: tuple[int, ...]

    def __call__(self, secret: int) -> Tensor:
        return torch.randint(0, M, self.shape, generator=torch.Generator().manual_seed(secret))
