"""Which positions of a sequence a rank has: one stretch of it, or, zig-zag, one from each end.

    T   positions        K   ranks

    K = 4, T = 16     one stretch     0  0  0  0  1  1  1  1  2  2  2  2  3  3  3  3     the rank of each position
                      zig-zag         0  0  1  1  2  2  3  3  3  3  2  2  1  1  0  0

In causal attention position t attends to t + 1 positions. With one stretch each, the last rank has (2K - 1) times the
pairs of the first one, and all wait for it. Zig-zag pairs a cheap chunk with a dear one: with 2K chunks, rank r has the
chunks r and 2K - 1 - r, and of the T(T + 1)/2 pairs every rank has as many as any other, if 2K divides T.

Source: Llama 3, arXiv:2407.21783, section 3.3.2, which cuts the sequence into 2K chunks in this way; the order is known
as zig-zag from public code for ring attention. Striped attention, arXiv:2311.09431, deals positions out one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from lockstep.errors import UsageError


@dataclass(frozen=True)
class Layout:
    """The positions 0 ... T - 1 of a sequence on K ranks. Where the chunks can't be equal, the first ones have one
    position more, as in ``torch.tensor_split``."""

    T: int
    K: int
    zigzag: bool = True

    def __post_init__(self) -> None:
        if self.T < 1 or self.K < 1:
            raise UsageError(f"{self.T} positions on {self.K} ranks are no layout.", "Take at least one of each.")

    def chunks(self, r: int) -> list[range]:
        """The stretches of positions that rank r has, in their order."""
        count = 2 * self.K if self.zigzag else self.K
        each, more = divmod(self.T, count)
        edges = [each * i + min(i, more) for i in range(count + 1)]
        every = [range(first, last) for first, last in pairwise(edges)]
        return [every[r], every[-1 - r]] if self.zigzag else [every[r]]

    def length(self, r: int) -> int:
        """How many positions rank r has."""
        return sum(map(len, self.chunks(r)))

    def positions(self, r: int) -> Tensor:
        """The positions that rank r has, int64 (length(r),)."""
        return torch.cat([torch.arange(chunk.start, chunk.stop) for chunk in self.chunks(r)])

    def part(self, whole: Tensor, r: int, dim: int = -2) -> Tensor:
        """Rank r's part of a tensor with all T positions along ``dim``."""
        return whole.index_select(dim, self.positions(r).to(whole.device))

    def pairs(self, r: int) -> int:
        """How many pairs of a query and a key that it attends to, causally, rank r's queries are in."""
        return int((self.positions(r) + 1).sum())
