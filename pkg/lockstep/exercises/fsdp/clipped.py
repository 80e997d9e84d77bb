"""Gradients to be clipped: norms above max_norm, above it only in all, below it, not a number, 0, 0 on a rank."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose, isnan, nan
from typing import Any, NamedTuple

import torch
from torch import Tensor

EPSILON = 1e-6  # that is allowed in the denominator
SHARDS = (7, 12, 1, 3)  # numbers of a rank's shard of each layer
LONG, TOGETHER, SHORT, NAN, ZERO, QUIET, SMALL = KINDS = (
    "a norm far above max_norm", "a norm above max_norm in all, and on no rank alone", "a norm below max_norm",
    "a NaN on the last rank", "gradients of 0", "gradients of 0 on the last rank",
    "small gradients",
)  # fmt: skip


class Clipping(NamedTuple):
    """``shards``: by rank, those of each layer."""

    kind: str
    shards: list[list[Tensor]]
    max_norm: float

    @classmethod
    def drawn(cls, kind: str, generators: Sequence[torch.Generator]) -> Clipping:
        """Whole numbers whose squares are exact, and which bfloat16 cannot hold."""
        size = 0 if kind == ZERO else 599
        shards = [[torch.randint(-size, size + 1, (n,), generator=g).float() for n in SHARDS] for g in generators]
        if kind == QUIET:
            shards[-1] = [torch.zeros(n) for n in SHARDS]
        if kind == SMALL:
            shards = [[shard * 2.0**-18 for shard in own] for own in shards]
        norms = [float(torch.cat(own).norm()) for own in shards]
        together = sum(norm**2 for norm in norms) ** 0.5
        if kind == NAN:
            shards[-1][0][3] = nan
        limits = {
            LONG: min(norms) / 2,
            TOGETHER: (max(norms) + together) / 2 - 0.01,
            SHORT: 1.01 * together,
            QUIET: together / 2 or 2.5,
            SMALL: together / 2,
        }
        return cls(kind, shards, limits.get(kind, 2.5))

    def of_rank(self, r: int) -> tuple[list[Tensor], float]:
        return self.shards[r], self.max_norm

    @property
    def norm(self) -> float:
        return float(torch.cat([shard for own in self.shards for shard in own]).double().norm())

    @property
    def scale(self) -> float:
        return 1.0 if self.norm <= self.max_norm else self.max_norm / self.norm

    def clipped(self) -> list[list[Tensor]]:
        return [[shard * self.scale for shard in own] for own in self.shards]

    def beside(self, held: Sequence[Sequence[Tensor]]) -> str:
        """By what the first rank whose factor is wrong multiplies, and by what it should, in sentences."""
        right = f"The global norm is {self.norm:.6g} and max_norm {self.max_norm:.6g}: the factor is {self.scale:.6g}"
        if isnan(self.norm):
            return "The global norm is NaN."
        for rank, (mine, given) in enumerate(zip(held, self.shards, strict=True)):
            factors = torch.cat([(x / g)[g != 0] for x, g in zip(mine, given, strict=True)]).double()
            if len(factors) and not torch.allclose(factors, factors[0].expand_as(factors), rtol=1e-4):
                return f"{right}, one for all. Rank {rank} does not multiply all its numbers by one factor."
            if len(factors) and not isclose(factors[0], self.scale, rel_tol=2e-6):
                return f"{right}. Rank {rank} multiplies by {factors[0]:.6g}{self._as_if(float(factors[0]), rank)}."
        return ""

    def _as_if(self, factor: float, rank: int) -> str:
        """The norm that a factor below 1 would be right for; and what that is, if it is one thing only."""
        if not 0 < factor < 1:
            return ""
        norm, K, own = self.max_norm / factor, len(self.shards), torch.cat(self.shards[rank])
        everything = torch.cat([shard for of_rank in self.shards for shard in of_rank])
        known = {
            "K times the right one": K * self.norm,
            "the right one over K": self.norm / K,
            "the right one over √K": self.norm / K**0.5,
            "that of its own shards": float(own.norm()),
            "that of layer 0 alone": float(torch.cat([shards[0] for shards in self.shards]).norm()),
            "the sum of all numbers, without their signs": float(everything.abs().sum()),
            "the square of the right one": self.norm**2,
        }
        names = [name for name, value in known.items() if isclose(value, norm, rel_tol=1e-5)]
        return f", as if the norm were {norm:.6g}" + (f": {names[0]}" if len(names) == 1 else "")


def without_what_agrees(held: Any, want: Tensor, clipping: Clipping) -> tuple[Any, Tensor]:
    """Both with 0 where they agree: NaN with NaN, what is scaled up to rounding and to an epsilon in the denominator,
    and what is not to the bit."""
    if not isinstance(held, Tensor) or held.shape != want.shape or held.dtype != want.dtype:
        return held, want
    near = torch.isclose(held, want, rtol=0.0 if clipping.kind == SHORT else 2e-6, atol=0.0, equal_nan=True)
    if clipping.kind == SMALL:
        least = want * (clipping.norm / (clipping.norm + EPSILON))
        near |= torch.isclose(held, least, rtol=2e-6, atol=0.0) | ((held - least) * (held - want) < 0)
    return held.masked_fill(near, 0), want.masked_fill(near, 0)


def without_nan(held: Any) -> Any:
    """A list of tensors with a number in place of NaN, so that equal ones are equal."""
    return [x.nan_to_num(1e9) if isinstance(x, Tensor) else x for x in held] if isinstance(held, list) else held
