"""The active mask: which of a warp's 32 lanes take part in an instruction.

A warp has one program counter. Where its lanes diverge at an ``if``, it executes both branches one after the other,
each time with a part of its lanes switched off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LANES = 32

Lanes = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class Mask:
    """``lanes``: (32,) of bool; ``count``: how many of them are active."""

    lanes: Lanes
    count: int

    @classmethod
    def of(cls, lanes: Lanes) -> Mask:
        return cls(lanes, int(np.count_nonzero(lanes)))

    def split(self, test: Any) -> tuple[Mask, Mask]:
        """The active lanes where ``test`` (one bool, or one for each lane) is true, and those where it is false."""
        if not isinstance(test, np.ndarray):
            return (self, NONE) if test else (NONE, self)
        held = self.lanes & test
        count = int(np.count_nonzero(held))
        if count == self.count:
            return self, NONE
        if count == 0:
            return NONE, self
        return Mask(held, count), Mask(self.lanes ^ held, self.count - count)

    def __or__(self, other: Mask) -> Mask:
        """The union: lanes reconverge. No lane can come from both sides."""
        if not other.count:
            return self
        if not self.count:
            return other
        count = self.count + other.count
        return ALL if count == LANES else Mask(self.lanes | other.lanes, count)

    def without(self, other: Mask) -> Mask:
        return Mask.of(self.lanes & ~other.lanes) if other.count else self

    def bits(self) -> int:
        """The mask as CUDA writes it: lane 0 is the lowest bit."""
        return sum(1 << int(lane) for lane in np.flatnonzero(self.lanes))


ALL = Mask(np.ones(LANES, bool), LANES)
NONE = Mask(np.zeros(LANES, bool), 0)
