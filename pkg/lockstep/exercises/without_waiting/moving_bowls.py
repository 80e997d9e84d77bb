"""A loss for each rank of which every step of SGD is exact in float64, and so are the means over the ranks."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lockstep.checks.case import Case, generator

SHAPES = {3: (3, 2), 8: (2, 2)}  # of w, by ranks


@dataclass(frozen=True)
class MovingBowl:
    """A parabola in each coordinate, whose middle moves in each step. With a multiple of K as ``curvature``, all steps
    by dyadic rates are multiples of K: their mean has few binary digits, too."""

    curvature: float
    middle: Tensor
    drift: Tensor

    def __call__(self, w: Tensor, step: int) -> Tensor:
        """The gradient."""
        return self.curvature * (w - self.middle - step * self.drift)


def start(case: Case) -> Tensor:
    """The same on all ranks."""
    return _halves(case, -1, 8)


def bowl(case: Case, rank: int) -> MovingBowl:
    """Ranks differ in all of it."""
    return MovingBowl(case.size * (1 + rank % 3), _halves(case, rank, 8), _halves(case, rank + 100, 4) + 0.25)


def _halves(case: Case, rank: int, most: int) -> Tensor:
    return torch.randint(-most, most + 1, SHAPES.get(case.ranks, (4,)), generator=generator(case, rank)).double() / 2
