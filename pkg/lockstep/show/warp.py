"""warp(): one warp's way through a kernel, instruction by instruction, under a slider."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import traitlets

from lockstep.errors import UsageError
from lockstep.show import warp_svg
from lockstep.show.figure import Figure, script

MOST = 100  # steps: what anybody steps through


class Warp(Figure):
    """The widget: ``step`` is the slider's place. See ``warp``."""

    _esm = script("player", "warp")
    step = traitlets.Int(0).tag(sync=True)
    frames = traitlets.List(traitlets.Unicode()).tag(sync=True)
    captions = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(self, steps: list[warp_svg.Frame]) -> None:
        super().__init__(frames=[warp_svg.draw(f) for f in steps], captions=[f.caption() for f in steps])

    @traitlets.validate("step")
    def _clamp(self, proposal: Any) -> int:
        return int(min(max(0, proposal["value"]), len(self.frames) - 1))

    def caption(self) -> str:
        return f"Instruction {self.step + 1} of {len(self.frames)}. {self.captions[self.step]}"

    def svg(self, step: int | None = None) -> str:
        """The static figure of ``step``, or of the step that is shown."""
        chosen = self.step if step is None else step
        if not 0 <= chosen < len(self.frames):
            raise UsageError(f"This warp has the steps 0 to {len(self.frames) - 1}, not {chosen}.")
        return self.frames[chosen]


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
    return Warp(frames)
