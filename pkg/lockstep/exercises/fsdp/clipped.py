"""Gradients to be clipped: norms above max_norm, above it only in all, below it, not a number, 0, 0 on a rank."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any, NamedTuple

import torch
from torch import Tensor

SHARDS = (7, 12, 1)  # numbers of a rank's shard of each layer
LONG, TOGETHER, SHORT, NAN, ZERO, QUIET = KINDS = (
    "a norm far above max_norm", "a norm above max_norm in all, and on no rank alone", "a norm below max_norm",
    "a NaN on the last rank", "gradients of 0", "gradients of 0 on the last rank",
)  # fmt: skip


class Clipping(NamedTuple):
    """``shards``: by rank, those of each layer."""

    kind: str
    shards: list[list[Tensor]]
    max_norm: float

    @classmethod
    def drawn(cls, kind: str, generators: Sequence[torch.Generator]) -> Clipping:
        """Whole numbers, of which every square is exact."""
        size = 0 if kind == ZERO else 9
        shards = [[torch.randint(-size, size + 1, (n,), generator=g).float() for n in SHARDS] for g in generators]
        if kind == QUIET:
            shards[-1] = [torch.zeros(n) for n in SHARDS]
        norms = [float(torch.cat(own).norm()) for own in shards]
        together = sum(norm**2 for norm in norms) ** 0.5
        if kind == NAN:
            shards[-1][0][3] = nan
        limits = {
            LONG: min(norms) / 2,
            TOGETHER: (max(norms) + together) / 2 - 0.01,
            SHORT: 1.01 * together,
            QUIET: together / 2 or 2.5,
        }
        return cls(kind, shards, limits.get(kind, 2.5))

    def of_rank(self, r: int) -> tuple[list[Tensor], float]:
        return self.shards[r], self.max_norm

    def clipped(self) -> list[list[Tensor]]:
        norm = float(torch.cat([shard for own in self.shards for shard in own]).double().norm())
        scale = 1.0 if norm <= self.max_norm else self.max_norm / norm
        return [[shard * scale for shard in own] for own in self.shards]


def without_what_agrees(held: Any, want: Tensor, kind: str) -> tuple[Any, Tensor]:
    """Both with 0 where they agree: NaN with NaN, what is scaled up to rounding, and what is not to the bit."""
    if not isinstance(held, Tensor) or held.shape != want.shape or held.dtype != want.dtype:
        return held, want
    near = torch.isclose(held, want, rtol=0.0 if kind == SHORT else 2e-6, atol=0.0, equal_nan=True)
    return held.masked_fill(near, 0), want.masked_fill(near, 0)


def without_nan(held: Any) -> Any:
    """A list of tensors with a number in place of NaN, so that equal ones are equal."""
    return [x.nan_to_num(1e9) if isinstance(x, Tensor) else x for x in held] if isinstance(held, list) else held
