"""Advection, the transport of a field by wind, on blocks: one halo for each step, or a wider one for several.

    u      a field, which the wind carries (cx, cy) cells a step, both from 0 to 1, to the right and down

    upwind: a cell becomes a mixture of itself and of the cells that the wind comes from

        u'[i, j] = (1 - cy)·((1 - cx)·u[i, j] + cx·u[i, j-1]) + cy·((1 - cx)·u[i-1, j] + cx·u[i-1, j-1])

    halo of 1    exchange, step, exchange, step, exchange, step
    halo of 3    exchange, step, step, step        a third of the messages; cells of the rim are computed twice

That is a convolution by a kernel of 3 x 3, so the same exchange serves a convolutional network on images, or on
weather, that no single GPU holds. The scheme is first-order upwind: stable for the winds above, and diffusive.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from lockstep.domain_decomposition.halo_exchange import Blocks, Group, with_halo
from lockstep.errors import UsageError


def kernel(cx: float, cy: float, dtype: torch.dtype = torch.float32) -> Tensor:
    """The weights of a step, (3, 3): those of the cells above, left and here; the others are zero."""
    if not (0 <= cx <= 1 and 0 <= cy <= 1):
        raise UsageError(f"A wind of ({cx}, {cy}) cells a step is unstable here.", "Take both from 0 to 1.")
    weights = torch.zeros(3, 3, dtype=dtype)
    weights[:2, :2] = torch.outer(torch.tensor([cy, 1 - cy]), torch.tensor([cx, 1 - cx]))
    return weights


def step(padded: Tensor, weights: Tensor) -> Tensor:
    """One step of all cells that have neighbours, (b, h + 2, w' + 2) to (b, h, w')."""
    return F.conv2d(padded.unsqueeze(1), weights.view(1, 1, 3, 3)).squeeze(1)


def advect(block: Tensor, blocks: Blocks, weights: Tensor, steps: int, width: int = 1, group: Group = None) -> Tensor:
    """This rank's block (b, h, w') after ``steps`` steps, with a halo exchange before every ``width`` of them."""
    done = 0
    while done < steps:
        several = min(width, steps - done)
        block = with_halo(block, blocks, several, group)
        for _ in range(several):
            block = step(block, weights)
        done += several
    return block
