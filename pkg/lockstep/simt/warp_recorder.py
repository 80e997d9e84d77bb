"""One warp's way through a kernel, step by step, for the viewer."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lockstep.simt.line_counts import LineCounts
from lockstep.simt.masks import Mask
from lockstep.simt.memory import Memory

MOST = 20_000  # steps; a viewer has no use for more


@dataclass(frozen=True)
class Step:
    """One instruction: its line, its active lanes (lane 0 is the lowest bit), and what it touched if it is a load or
    store: ``addresses`` in bytes, one for each active lane in order."""

    line: int
    mask: int
    space: str = ""  # "global", "shared", "local"; "" if no memory is touched
    array: str = ""
    addresses: tuple[int, ...] = ()


@dataclass
class Recorder:
    """Writes down at most MOST steps."""

    steps: list[Step] = field(default_factory=list)

    def step(self, line: LineCounts, mask: Mask) -> None:
        if len(self.steps) < MOST:
            self.steps.append(Step(line.number, mask.bits()))

    def access(self, memory: Memory, items: NDArray[np.int64], mask: Mask) -> None:
        """The step that was written down last is a load or a store."""
        if len(self.steps) < MOST:
            last = self.steps.pop()
            addresses = tuple((memory.base + items * memory.itemsize).tolist())
            self.steps.append(Step(last.line, mask.bits(), memory.space, memory.name, addresses))
