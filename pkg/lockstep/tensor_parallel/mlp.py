"""A Transformer's MLP on K ranks: columns, then rows. One all-reduce forward, one backward.

    X (b, T, h)    A (h, 4h)    B (4h, h)        Z = GeLU(X·A)·B

              rank 0    X ── 1 f ── GeLU(X·A_0) = Y_0 ── Y_0·B_0 ──┐
              rank 1    X ── 1 f ── GeLU(X·A_1) = Y_1 ── Y_1·B_1 ──┴─ 2 g ── Z = Y_0·B_0 + Y_1·B_1, on both

Cut the other way round, rows first, it would need an all-reduce before GeLU, of 4h numbers for each token, and another
communication after it. The numbers between f and g, 4h/K for each token, are nobody else's business.
Source: Shoeybi et al., Megatron-LM, arXiv:1909.08053, section 3, figure 3a.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional as F

from lockstep.tensor_parallel.f_and_g import Group
from lockstep.tensor_parallel.linear import PLAIN, Style


class ParallelMLP(nn.Module):
    """This rank's part of ``down(activation(up(x)))``: (..., width) to (..., width), alike on all ranks."""

    def __init__(
        self,
        up: nn.Linear,
        down: nn.Linear,
        activation: Callable[[Tensor], Tensor] = F.gelu,
        group: Group = None,
        style: Style = PLAIN,
    ) -> None:
        super().__init__()
        self.up, self.down, self.activation = style.column(up, group), style.row(down, group), activation  # 1, 2

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down(self.activation(self.up(x)))  # (b, T, 4h/K) between the two
        return out
