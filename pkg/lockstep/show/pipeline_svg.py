"""A pipeline schedule as SVG: a lane for each stage, and in it a bar for each pass, labelled with its micro-batch."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_lowercase
from typing import Protocol

from lockstep.pipeline.drawn_schedule import Rows
from lockstep.pipeline.instructions import Instruction
from lockstep.pipeline.simulate import Interval
from lockstep.show import motion, palette, quantities, svg
from lockstep.show.pipeline_model import Drawing, told

LEFT, RIGHT, TOP = 62.0, 76.0, 30.0
ROW, GAP = 22.0, 5.0
FOOT = 3.0  # pixels, for each chunk after the first
LETTER = 7.2
PASSES = {
    "Forward": "forward",
    "Recompute": "forward again",
    "Backward": "backward",
    "BackwardInput": "backward, input",
    "BackwardWeights": "backward, weights",
    "Update": "update",
}


class Drawn(Protocol):
    """What can be drawn: ``pipeline_model.Schedule`` or ``Drawing``."""

    @property
    def name(self) -> str: ...
    @property
    def caption(self) -> str: ...
    @property
    def stages(self) -> int: ...
    @property
    def bars(self) -> list[Interval]: ...
    @property
    def total(self) -> float: ...
    @property
    def until(self) -> float: ...
    @property
    def idle(self) -> float: ...
    @property
    def kept(self) -> list[int]: ...
    @property
    def versions(self) -> list[int]: ...
    def words(self) -> str: ...


def draw(schedule: Drawn) -> str:
    """SVG of a schedule."""
    height = TOP + schedule.stages * (ROW + GAP) + 44 + 20 * _legend_rows(schedule)
    body = [*_lanes(schedule), *_bars(schedule), _hand(schedule), *_axis(schedule), *_legend(schedule)]
    return svg.document(svg.WIDTH, height, "Pipeline schedule", schedule.words(), body)


def draw_rows(rows: Rows, caption: str = "") -> str:
    """SVG of a schedule drawn by hand, of at least one cell."""
    return draw(Drawing(rows, caption))


def _x(schedule: Drawn, time: float) -> float:
    return LEFT + time / max(schedule.until, schedule.total) * (svg.WIDTH - LEFT - RIGHT)


def _y(stage: int) -> float:
    return TOP + stage * (ROW + GAP)


def _lanes(schedule: Drawn) -> Iterator[str]:
    yield svg.text(LEFT, TOP - 10, schedule.caption)
    yield svg.faint(svg.WIDTH - RIGHT + 10, TOP - 10, "kept")
    if max(schedule.versions) > 1:
        yield svg.faint(svg.WIDTH - 8, TOP - 10, "w", text_anchor="end")
    for stage in range(schedule.stages):
        yield svg.text(8, _y(stage) + 15, f"stage {stage}")
        yield svg.lane(LEFT, _y(stage), svg.WIDTH - LEFT - RIGHT, ROW)
        yield svg.text(svg.WIDTH - RIGHT + 10, _y(stage) + 15, str(schedule.kept[stage]))
        if max(schedule.versions) > 1:
            yield svg.text(svg.WIDTH - 8, _y(stage) + 15, str(schedule.versions[stage]), text_anchor="end")


def _bars(schedule: Drawn) -> Iterator[str]:
    for bar in schedule.bars:
        x, fill = _x(schedule, bar.start), palette.colour(type(bar.step).__name__)
        width = _x(schedule, bar.end) - x
        look = {"rx": 1.5, "fill": fill}
        block = svg.bar(x, _y(bar.stage), max(0.5, width - 0.8), ROW, bar.end - bar.start, **look)
        label = _label(bar)
        word = svg.text(x + width / 2, _y(bar.stage) + 15, label, text_anchor="middle", fill=palette.text_on(fill))
        foot = FOOT * bar.step.chunk if isinstance(bar.step, Instruction) else 0.0
        if foot:
            y = _y(bar.stage) + ROW - foot
            block += svg.element("rect", x=x, y=y, width=max(0.5, width - 0.8), height=foot, fill=palette.INK)
        seen = word if width > svg.length(label) else ""
        yield motion.lasting(bar.start, bar.end, svg.title(told(bar)), block, seen)


def _hand(schedule: Drawn) -> str:
    scale = _x(schedule, 1) - _x(schedule, 0)
    return motion.hand(LEFT, scale, TOP - 4, _y(schedule.stages))


def _label(bar: Interval) -> str:
    step = bar.step
    if not isinstance(step, Instruction):
        return ""
    return f"{step.micro_batch}{ascii_lowercase[step.chunk] if step.chunk else ''}"


def _axis(schedule: Drawn) -> Iterator[str]:
    y, ends = _y(schedule.stages), _x(schedule, schedule.total)
    for tick in quantities.ticks(0, max(schedule.until, schedule.total), 6):
        x = _x(schedule, tick)
        yield svg.line(x, y - GAP, x, y, stroke=palette.FAINT)
        yield svg.faint(x, y + 12, quantities.plain(tick), text_anchor="middle")
    yield svg.line(ends, TOP - 4, ends, y, stroke_dasharray="3 3")
    yield svg.text(LEFT, y + 30, f"Ends at {schedule.total:.4g}: {schedule.idle:.0%} idle", font_weight=600)


def _kinds(schedule: Drawn) -> list[str]:
    there = {type(bar.step).__name__ for bar in schedule.bars}
    return [name for name in PASSES if name in there]


def _legend_rows(schedule: Drawn) -> int:
    return 2 if max(schedule.versions) > 1 or schedule.name == "interleaved" else 1


def _legend(schedule: Drawn) -> Iterator[str]:
    x, y = LEFT, _y(schedule.stages) + 52
    for name in _kinds(schedule):
        yield svg.element("rect", x=x, y=y - 10, width=12, height=12, rx=2, fill=palette.colour(name))
        yield svg.text(x + 17, y, PASSES[name])
        x += 17 + LETTER * len(PASSES[name]) + 14
    yield svg.faint(svg.WIDTH - 8, y, "kept: activations", text_anchor="end")
    if schedule.name == "interleaved":
        yield svg.faint(LEFT, y + 20, "dark foot: the stage's second chunk (b), twice as high: the third (c)")
    if max(schedule.versions) > 1:
        yield svg.faint(svg.WIDTH - 8, y + 20, "w: versions of the weights", text_anchor="end")
