"""The mask of secure aggregation: a one-time pad that whoever knows the secret can draw, and nobody else.

It is a file of its own, since the whole of ``secure_aggregation``, an exercise's reference, is refused to answers, and
answers are given a mask.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

M = 2**32


@dataclass(frozen=True)
class Mask:
    """``mask(secret)``: a one-time pad, int64 numbers from 0 to 2**32 - 1 of this shape; the same for the same
    secret."""

    shape: tuple[int, ...]

    def __call__(self, secret: int) -> Tensor:
        return torch.randint(0, M, self.shape, generator=torch.Generator().manual_seed(secret))
