"""warp(): one warp's way through a kernel, instruction by instruction, under a slider."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from lockstep.errors import UsageError
from lockstep.show import warp_svg
from lockstep.show.player import Player

MOST = 100  # steps: what anybody steps through


class Warp(Player):
    """A frame for each instruction. See ``warp``."""

    label = "One warp, step by step"
    pause = 600

    def caption(self) -> str:
        return f"Instruction {self.step + 1} of {len(self.frames)}. {self.captions[self.step]}"


def warp(launched: Any) -> Warp:
    """The recorded warp of a launch: ``warp(launch(kernel, grid, block, …, record=True))``. The first 100 instructions.

    Raises UsageError if nothing was recorded.
    """
    steps = list(getattr(launched, "steps", None) or ())[:MOST]
    if not steps:
        raise UsageError("This launch recorded no warp.", "Launch with record=True.")
    source = [(line.number, line.text) for line in launched.lines]
    lanes = list(accumulate(step.mask.bit_count() for step in steps))
    frames = [
        warp_svg.Frame(step, number, len(steps), source, number + 1, lanes[number]) for number, step in enumerate(steps)
    ]
    return Warp([warp_svg.draw(f) for f in frames], [f.caption() for f in frames])
