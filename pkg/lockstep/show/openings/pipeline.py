"""Micro-batches on their way through three stages, as the simulator times them; arrows are what they hand on."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.pipeline.instructions import Backward, Forward, Instruction
from lockstep.pipeline.schedules import streams
from lockstep.pipeline.simulate import Interval, Times, simulate
from lockstep.show import palette, svg
from lockstep.show.openings.parts import EDGE, arrow, box, card, key

STAGES, MICRO_BATCHES, LEFT, ROW, TALL = 3, 3, 74.0, 46.0, 26.0
TOLD = (
    "Time runs to the right. Three stages, each with a third of the layers. Three micro-batches go forward from stage "
    "to stage, one after another, and come back. While one stage computes micro-batch 1, the next one computes "
    "micro-batch 0. At the beginning and at the end, stages wait."
)


def draw() -> str:
    bars = [bar for bar in simulate(streams("gpipe", STAGES, MICRO_BATCHES), Times.equal()) if bar.end > bar.start]
    scale = (svg.WIDTH - LEFT - EDGE) / max(bar.end for bar in bars)
    entries = (
        (palette.colour("Forward"), "forward"),
        (palette.colour("Backward"), "backward"),
        (palette.LANE, "waits"),
    )
    body = [*_lanes(), *(part for bar in bars for part in _bar(bar, scale)), *key(entries, LEFT, 196)]
    return card(210, "While one stage computes, the next one does, too", TOLD, body)


def _y(stage: int) -> float:
    return 44 + ROW * stage


def _lanes() -> Iterator[str]:
    for stage in range(STAGES):
        yield svg.text(EDGE, _y(stage) + 17, f"stage {stage}")
        yield svg.lane(LEFT, _y(stage), svg.WIDTH - LEFT - EDGE, TALL)


def _bar(bar: Interval, scale: float) -> Iterator[str]:
    if not isinstance(bar.step, Instruction):
        return
    x, right = LEFT + scale * bar.start, LEFT + scale * bar.end
    name = type(bar.step).__name__
    yield box(x, _y(bar.stage), right - x - 1.5, TALL, str(bar.step.micro_batch), palette.colour(name))
    if isinstance(bar.step, Forward) and bar.stage < STAGES - 1:
        yield arrow(right - 9, _y(bar.stage) + TALL, right + 7, _y(bar.stage + 1) - 1)
    if isinstance(bar.step, Backward) and bar.stage > 0:
        yield arrow(right - 9, _y(bar.stage), right + 7, _y(bar.stage - 1) + TALL + 1)
