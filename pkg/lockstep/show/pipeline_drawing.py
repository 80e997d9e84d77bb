"""A schedule drawn by hand, as a picture: what a check shows of it."""

from __future__ import annotations

from dataclasses import dataclass

from lockstep.pipeline import drawing
from lockstep.pipeline.drawing import Rows, when
from lockstep.pipeline.pairs import instructions
from lockstep.pipeline.simulate import Interval
from lockstep.show import pipeline_svg, quantities


@dataclass(frozen=True)
class Drawing:
    """Rows of cells as bars of one slot each. ``caption``: what is to be told besides."""

    rows: Rows
    caption: str = ""
    name: str = "drawing"

    @property
    def stages(self) -> int:
        return len(self.rows)

    @property
    def bars(self) -> list[Interval]:
        cells = [(stage, slot, cell) for stage, row in enumerate(self.rows) for cell, slot in when(row).items()]
        steps = instructions([(cell[0], int(cell[1:])) for *_, cell in cells])
        return [Interval(stage, step, slot, slot + 1) for (stage, slot, _), step in zip(cells, steps, strict=True)]

    @property
    def total(self) -> float:
        return float(drawing.slots(self.rows))

    @property
    def idle(self) -> float:
        return drawing.idle(self.rows)

    @property
    def kept(self) -> list[int]:
        return [max(of_stage, default=0) for of_stage in drawing.kept(self.rows)]

    @property
    def versions(self) -> list[int]:
        return [1] * self.stages

    def words(self) -> str:
        stages, slots = quantities.count(self.stages, "stage"), quantities.count(drawing.slots(self.rows), "slot")
        return f"A drawing of {stages}: {slots}, {self.idle:.0%} idle. {self.caption}".strip()


def draw(rows: Rows, caption: str = "") -> str:
    """SVG of a drawing of at least one cell."""
    return pipeline_svg.draw(Drawing(rows, caption))
