"""One step of the ring all-reduce as SVG: a column for each rank, a cell for each chunk, an arrow for each message.

A cell has one segment for each rank; a filled one says that this rank's numbers are in the sum.
"""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.show import palette, svg
from lockstep.show.ring_model import Move, Step, caption

PARTIAL = palette.COLOURS["reduce_scatter"]
COMPLETE = palette.COLOURS["all_reduce"]
WIDTH, EDGE, TOP = svg.WIDTH, 30.0, 118.0


def draw(step: Step, steps: int) -> str:
    """The figure of ``step``, one of ``steps``."""
    grid = Grid(step)
    body = [
        svg.text(EDGE, 28, f"Ring all-reduce, step {step.number} of {steps - 1}", 14, font_weight=600),
        *(svg.faint(EDGE, 47 + 17 * i, line) for i, line in enumerate(_lines(step, steps))),
        *_columns(grid),
        *(part for move in step.moves for part in _move(grid, move)),
        *_key(grid),
    ]
    return svg.document(WIDTH, grid.height, f"Ring all-reduce, step {step.number}", _words(step, steps), body)


def _lines(step: Step, steps: int) -> list[str]:
    return [line for sentence in caption(step, steps) for line in svg.wrapped(sentence, WIDTH - 2 * EDGE)]


class Grid:
    """Where the cells are, in pixels."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.pitch = (WIDTH - 2 * EDGE) / step.ranks
        self.cell = min(self.pitch * 0.62, 150.0)
        self.tall = max(16.0, min(36.0, 300 / len(step.held[0])))
        self.rows = len(step.held[0])

    @property
    def height(self) -> float:
        return TOP + self.rows * (self.tall + 5) + 64

    def x(self, rank: int) -> float:
        return EDGE + self.pitch * rank + (self.pitch - self.cell) / 2

    def y(self, chunk: int) -> float:
        return TOP + chunk * (self.tall + 5)


def _columns(grid: Grid) -> Iterator[str]:
    small = grid.step.ranks > 9
    for rank, row in enumerate(grid.step.held):
        name = str(rank) if small else f"rank {rank}"
        yield svg.text(grid.x(rank) + grid.cell / 2, TOP - 9, name, 12, text_anchor="middle")
        for chunk, has in enumerate(row):
            yield _cell(grid, rank, chunk, has)
    if grid.rows > 1:
        for chunk in range(grid.rows):
            yield svg.faint(4, grid.y(chunk) + grid.tall / 2 + 4, f"c{chunk}")


def _cell(grid: Grid, rank: int, chunk: int, has: frozenset[int]) -> str:
    """Segments in one path: K of them, filled where the contribution is in."""
    ranks, x, y, h = grid.step.ranks, grid.x(rank), grid.y(chunk), grid.tall
    fill = COMPLETE if len(has) == ranks else PARTIAL
    wide = (grid.cell - 4) / ranks
    gap = 1.0 if wide > 4 else 0.0
    filled = "".join(f"M{x + 2 + i * wide + gap:.1f} {y + 3:.1f}h{wide - 2 * gap:.1f}v{h - 6:.1f}h{2 * gap - wide:.1f}z"
                     for i in sorted(has))  # fmt: skip
    whole = " (complete)" if len(has) == ranks else ""
    told = f"rank {rank}, chunk {chunk}: sum over ranks {', '.join(map(str, sorted(has)))}{whole}"
    parts = [
        svg.title(told),
        svg.element("rect", x=x, y=y, width=grid.cell, height=h, rx=3, fill=palette.LANE, stroke=palette.FAINT,
                    stroke_width=0.8, class_="ls-lane"),
        svg.element("path", d=filled, fill=fill),
    ]  # fmt: skip
    return svg.element("g", *parts)


def _move(grid: Grid, move: Move) -> Iterator[str]:
    """An arrow into the next column; from the last rank out at the right and in again at the left."""
    y = grid.y(move.chunk) + grid.tall / 2
    leaves, arrives = grid.x(move.source) + grid.cell + 2, grid.x(move.target) - 2
    told = svg.title(f"rank {move.source} sends chunk {move.chunk} to rank {move.target}")
    pieces = [(leaves, arrives)] if move.target > move.source else [(leaves, WIDTH - 4), (EDGE, arrives)]
    if grid.rows == 1 and len(pieces) == 2:
        pieces[1] = (8.0, arrives)
    for start, end in pieces:
        arrow = svg.arrow(start, y, end, y, head=8, fill=_shade(grid, move), stroke_width=2)
        yield svg.element("g", told, arrow, class_="ls-move")


def _shade(grid: Grid, move: Move) -> str:
    return COMPLETE if len(move.contributions) == grid.step.ranks else PARTIAL


def _key(grid: Grid) -> Iterator[str]:
    y = grid.height - 34
    for x, fill, words in ((EDGE, PARTIAL, "part of the sum"), (EDGE + 150, COMPLETE, "the whole sum")):
        yield svg.element("rect", x=x, y=y - 10, width=12, height=12, rx=2, fill=fill)
        yield svg.text(x + 18, y, words)
    yield svg.faint(EDGE, y + 20, "Each segment of a cell is one rank's contribution.")


def _words(step: Step, steps: int) -> str:
    moving = "; ".join(f"rank {m.source} sends chunk {m.chunk} to rank {m.target}" for m in step.moves)
    return f"{' '.join(caption(step, steps))} {moving}".strip()
