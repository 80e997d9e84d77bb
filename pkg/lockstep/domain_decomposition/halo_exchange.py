"""Halo exchange: a stencil needs the cells around each cell, so every rank gets a rim of its neighbours' cells first.

    P x Q ranks, row by row; a field of any size, cut in P rows and Q columns of blocks; it ends nowhere: what leaves on
    the right comes back on the left

    1 up and down               2 left and right, of all that is there now: so corners come without a message
        ┌───────┐                 ┌─┬───────┬─┐
        │ above │                 │ │ above │ │
        ├───────┤                 │ ├───────┤ │          width w: w rows above and below, w columns at each side
        │ block │       ──>       │ │ block │ │
        ├───────┤                 │ ├───────┤ │
        │ below │                 │ │ below │ │
        └───────┘                 └─┴───────┴─┘

Four messages a rank, of 2w·(h + w' + 2w) cells in all for a block of h x w' cells: they grow with its rim, and the work
with its area. In the backward pass each rim's gradient goes back to the rank that has those cells, and is added there.

The halo of a stencil is an old idea; as a way to train neural networks: Dryden et al., "Improving Strong-Scaling of CNN
Training by Exploiting Finer-Grained Parallelism", arXiv:1903.06681.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from lockstep.errors import UsageError

Group = dist.ProcessGroup | None


@dataclass(frozen=True)
class Blocks:
    """A field of ``rows`` x ``columns`` cells on P x Q ranks. The first blocks are larger by one where they can't be
    equal, as in ``torch.tensor_split``."""

    rows: int
    columns: int
    P: int
    Q: int

    def __post_init__(self) -> None:
        if min(self.P, self.Q) < 1 or self.rows < self.P or self.columns < self.Q:
            raise UsageError(
                f"{self.rows} x {self.columns} cells cannot be cut in {self.P} x {self.Q} blocks.",
                "Each rank needs a cell at least.",
            )

    def at(self, r: int) -> tuple[int, int]:
        """Row and column of rank r's block among the blocks."""
        return divmod(r, self.Q)

    def rank(self, row: int, column: int) -> int:
        """The rank at this row and column of blocks, counted on beyond the edge."""
        return row % self.P * self.Q + column % self.Q

    def part(self, field: Tensor, r: int) -> Tensor:
        """Rank r's block of a whole field (..., rows, columns)."""
        row, column = self.at(r)
        return field.tensor_split(self.P, dim=-2)[row].tensor_split(self.Q, dim=-1)[column].contiguous()


def with_halo(block: Tensor, blocks: Blocks, width: int = 1, group: Group = None) -> Tensor:
    """This rank's block (..., h, w') with a rim of its neighbours' cells, (..., h + 2·width, w' + 2·width).
    Differentiable. All ranks of ``group`` call it. Raises UsageError where a block has less than ``width`` cells."""
    ranks = dist.get_world_size(group)
    if ranks != blocks.P * blocks.Q:
        raise UsageError(f"{blocks.P} x {blocks.Q} blocks are not for {ranks} ranks.", "Let P·Q be the group's size.")
    if not 0 < width <= min(blocks.rows // blocks.P, blocks.columns // blocks.Q):
        raise UsageError(
            f"A halo of {width} is not to be had of blocks with "
            f"{blocks.rows // blocks.P} x {blocks.columns // blocks.Q} cells.",
            "The halo may be as wide as the smallest block.",
        )
    row, column = blocks.at(dist.get_rank(group))
    tall = rimmed(block, -2, width, blocks.rank(row - 1, column), blocks.rank(row + 1, column), group)  # 1
    return rimmed(tall, -1, width, blocks.rank(row, column - 1), blocks.rank(row, column + 1), group)  # 2


def halo_exchange(block: Tensor, P: int, Q: int, width: int, group: Group = None) -> Tensor:
    """The same of a single block (h, w') whose rank knows no size but its own: (h + 2·width, w' + 2·width)."""
    row, column = divmod(dist.get_rank(group), Q)
    tall = rimmed(block, -2, width, (row - 1) % P * Q + column, (row + 1) % P * Q + column, group)
    return rimmed(tall, -1, width, row * Q + (column - 1) % Q, row * Q + (column + 1) % Q, group)


def rimmed(x: Tensor, dim: int, width: int, before: int, after: int, group: Group) -> Tensor:
    """x with ``width`` slices of the rank ``before`` in front of it along ``dim``, and of the one ``after`` behind."""
    out: Tensor = Rim.apply(x, dim, width, before, after, group)  # type: ignore[no-untyped-call]
    return out


class Rim(torch.autograd.Function):
    """``rimmed``, whose gradients take the way back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int, width: int, before: int, after: int, group: Group) -> Tensor:
        ctx.rest = dim, width, before, after, group
        first, last = x.narrow(dim, 0, width), x.narrow(dim, x.shape[dim] - width, width)
        in_front, behind = trade(first, last, before, after, group)
        return torch.cat([in_front, x, behind], dim)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        dim, width, before, after, group = ctx.rest
        in_front, own, behind = torch.split(gradients[0], [width, gradients[0].shape[dim] - 2 * width, width], dim)
        of_first, of_last = trade(in_front, behind, before, after, group)
        own = own.clone()
        own.narrow(dim, 0, width).add_(of_first)
        own.narrow(dim, own.shape[dim] - width, width).add_(of_last)
        return own, None, None, None, None, None


def trade(to_before: Tensor, to_after: Tensor, before: int, after: int, group: Group) -> tuple[Tensor, Tensor]:
    """What ``before`` and ``after`` send in their turn, shaped as what they are sent."""
    if before == dist.get_rank(group):  # a rank that has all of this direction is its own neighbour
        return to_after, to_before
    going = to_before.contiguous(), to_after.contiguous()
    of_before, of_after = map(torch.empty_like, going)
    # Two ranks have each other on both sides. Messages of a pair are matched in their order: the first that comes is
    # what a neighbour sends before itself, so it is the one after this rank.
    works = dist.batch_isend_irecv(
        [
            dist.P2POp(dist.isend, going[0], group=group, group_peer=before),
            dist.P2POp(dist.isend, going[1], group=group, group_peer=after),
            dist.P2POp(dist.irecv, of_after, group=group, group_peer=after),
            dist.P2POp(dist.irecv, of_before, group=group, group_peer=before),
        ]
    )
    for work in works:
        work.wait()
    return of_before, of_after
