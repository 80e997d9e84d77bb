"""board(): a grid of stages and slots on which a learner draws a pipeline schedule; Python judges what is placed.

    Board           the model: which cells are filled, what is missing, what breaks a rule, what it costs
    DrawingBoard    the widget
    draw            the still picture: a row for each stage, a cell for each slot; what breaks a rule is hatched

The rules of a schedule are in ``lockstep.pipeline.drawn_schedule``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import Any

import traitlets

from lockstep.errors import UsageError
from lockstep.pipeline import drawn_schedule
from lockstep.pipeline.drawn_schedule import IDLE, Illegal, Rows
from lockstep.pipeline.drawn_training import trained
from lockstep.show import palette, pipeline_svg, quantities, svg
from lockstep.show.figure import script
from lockstep.show.widget import Figure

MOST_STAGES, MOST_MICRO_BATCHES = 8, 16
MOST_STATES = 20_000  # of the search for the fewest slots: it takes less than a second
MOST_SLOTS = 2 * MOST_STAGES * MOST_MICRO_BATCHES  # one pass at a time
NOTHING = ".."


@dataclass(frozen=True)
class Board:
    """``cells`` has a row for each stage, all equally long: at least one column is empty on the right."""

    stages: int
    micro_batches: int
    cap: int
    cells: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, stages: int, micro_batches: int, cap: int, rows: Rows | str | None = None) -> Board:
        """``rows`` as an exercise's answer has them, or their text. UsageError for what is no board."""
        if not 1 <= stages <= MOST_STAGES or not 1 <= micro_batches <= MOST_MICRO_BATCHES or cap < 1:
            most = f"{MOST_STAGES} stages, {MOST_MICRO_BATCHES} micro-batches"
            raise UsageError(f"A board has up to {most} and a cap of 1 or more, not {(stages, micro_batches, cap)}.")
        if comb(micro_batches + 2 * stages, 2 * stages) > MOST_STATES:
            size = f"{stages} stages with {micro_batches} micro-batches"
            raise UsageError(f"The shortest drawing of {size} is not searched for: it takes too long.", "Take fewer.")
        given = [line.split() for line in rows.strip().splitlines()] if isinstance(rows, str) else rows
        given = given or [[] for _ in range(stages)]
        if len(given) != stages:
            raise UsageError(f"The drawing has {quantities.count(len(given), 'row')}, the board {stages} stages.")
        for stage, row in enumerate(given):
            if isinstance(row, str) or not all(isinstance(cell, str) for cell in row):
                raise UsageError(f"Row {stage} is no list of cells such as 'F0', 'B0' or '..'.")
            if len(row) > MOST_SLOTS:
                raise UsageError(f"Row {stage} has {len(row)} cells; a board has up to {MOST_SLOTS} slots.")
        return cls(stages, micro_batches, cap, ())._with(given)

    def put(self, stage: int, slot: int, cell: str) -> Board:
        """The board with ``cell`` there in place of what was there. ".." clears it; "F" and "B" are the first F and B
        that the row doesn't have yet. Any other text is kept, too, and marked.
        """
        if not self.has(stage, slot):
            raise UsageError(f"This board has no slot {slot} on stage {stage}.")
        rows = [list(row) for row in self.cells]
        if cell in ("F", "B"):
            cell = next((absent for absent in self.missing[stage] if absent[0] == cell), rows[stage][slot])
        rows[stage][slot] = (cell.split() or [NOTHING])[0][:4]
        return self._with(rows)

    def has(self, stage: int, slot: int) -> bool:
        return 0 <= stage < self.stages and 0 <= slot < len(self.cells[stage])

    def _with(self, rows: Rows) -> Board:
        wide = min(MOST_SLOTS, max(self.best, drawn_schedule.slots(rows)) + 1)
        cells = [tuple(NOTHING if cell in IDLE else cell for cell in row[:wide]) for row in rows]
        return replace(self, cells=tuple(row + (NOTHING,) * (wide - len(row)) for row in cells))

    # ---- what is drawn

    @cached_property
    def rows(self) -> list[list[str]]:
        """The drawing, without empty columns on the right: an answer to ``draw_the_schedule``."""
        return [list(row[: drawn_schedule.slots(self.cells)]) for row in self.cells]

    @cached_property
    def text(self) -> str:
        """A line for each stage: what an answer to ``draw_the_schedule`` splits into rows and cells."""
        wide = max((len(cell) for row in self.rows for cell in row), default=2)
        return "\n".join(" ".join(cell.ljust(wide) for cell in row).rstrip() for row in self.rows)

    @cached_property
    def broken(self) -> list[Illegal]:
        return list(drawn_schedule.broken(self.cells, self.micro_batches, self.cap))

    @cached_property
    def marks(self) -> dict[tuple[int, int], str]:
        """Why a cell is marked, by stage and slot."""
        found = dict[tuple[int, int], str]()
        for place in self.broken:
            found.setdefault((place.stage, place.slot), drawn_schedule.told(place))
        return found

    @cached_property
    def missing(self) -> list[list[str]]:
        """Of each row: the passes that it doesn't have yet."""
        return [drawn_schedule.missing(row, self.micro_batches) for row in self.cells]

    @cached_property
    def legal(self) -> bool:
        """Complete, and no rule is broken."""
        return not self.broken and not any(self.missing)

    # ---- what it costs

    @cached_property
    def slots(self) -> int:
        return drawn_schedule.slots(self.cells)

    @property
    def best(self) -> int:
        """The fewest slots of any legal drawing."""
        return drawn_schedule.best_slots(self.stages, self.micro_batches, self.cap)

    @cached_property
    def kept(self) -> list[int]:
        """The most micro-batches that each stage keeps at once, at least."""
        return [max(of_stage, default=0) for of_stage in drawn_schedule.kept(self.cells)]

    @cached_property
    def idle(self) -> int:
        """Cells with nothing in them, up to the last pass of any stage."""
        return sum(cell in IDLE for row in self.rows for cell in row)

    # ---- its messages

    @property
    def task(self) -> str:
        stages = quantities.count(self.stages, "stage")
        parts = quantities.count(self.micro_batches, "micro-batch", "micro-batches")
        return f"Draw a schedule: {stages}, {parts}, cap {self.cap}"

    def counts(self) -> str:
        """As in "6 slots so far; the shortest legal drawing takes 6. 4 of 12 cells are idle: a bubble of 33%."."""
        possible = f"the shortest legal drawing takes {self.best}"
        if not self.slots:
            return f"No slot is used so far; {possible}."
        cells = self.stages * self.slots
        slots = quantities.count(self.slots, "slot")
        return (
            f"{slots} so far; {possible}. {self.idle} of {cells} cells are idle: a bubble of {self.idle / cells:.0%}."
        )

    def told(self, before: Board | None = None) -> str:
        """The message about the drawing; a rule that is broken now and was not in ``before`` goes first."""
        seen = [drawn_schedule.told(place) for place in before.broken] if before else []
        found = [drawn_schedule.told(place) for place in self.broken]
        if found:
            first = next((why for why in found if why not in seen), found[0])
            others = len(self.marks) - 1
            more = (
                f" {quantities.count(others, 'more cell')} {'is' if others == 1 else 'are'} marked." if others else ""
            )
            return f"R{first[1:]}.{more}"
        if self.legal:
            short = "none takes fewer" if self.slots == self.best else f"{self.best} are possible"
            return f"The drawing is legal. It takes {quantities.count(self.slots, 'slot')}; {short}."
        passes = 2 * self.stages * self.micro_batches
        placed = passes - sum(map(len, self.missing))
        return f"No rule is broken so far. {placed} of {passes} passes are placed."

    def wanting(self) -> str:
        """Why the drawing can't train a model yet; "" if it can."""
        if self.broken:
            return f"It can't train yet. {self.told()}"
        if absent := [(stage, row) for stage, row in enumerate(self.missing) if row]:
            stage, row = absent[0]
            listed = ", ".join(row[:6]) + (", …" if len(row) > 6 else "")
            return f"It can't train yet. Stage {stage} still needs {listed}."
        return ""

    def words(self) -> str:
        """The board in words, row by row."""
        rows = "; ".join(f"stage {stage}: {' '.join(row)}" for stage, row in enumerate(self.rows))
        return f"{self.task}. {f'{rows}. {self.counts()} {self.told()}' if self.slots else 'The board is empty.'}"


class DrawingBoard(Figure):
    """The widget: it sends what is placed, and shows what Python says of it. See ``board``."""

    _esm = script("board")
    drawn = traitlets.Dict().tag(sync=True)

    def __init__(self, model: Board) -> None:
        self.model = self._kept = model
        super().__init__(drawn=self._shown(model.told()))
        self.on_msg(self._hear)

    @property
    def rows(self) -> list[list[str]]:
        """The present drawing: a list of cells for each stage, equally long."""
        return self.model.rows

    @property
    def text(self) -> str:
        """The drawing as text, a line for each stage."""
        return self.model.text

    def put(self, stage: int, slot: int, cell: str) -> None:
        """Write "F3" or "B3" into a cell, "F" or "B" for the next of the row, or ".." for nothing.

        Raises UsageError for a cell that the board hasn't got.
        """
        self._become(self.model.put(stage, slot, cell))

    def move(self, stage: int, slot: int, to_stage: int, to_slot: int) -> None:
        """Move the pass in one cell to another cell, where it replaces what was there."""
        cell = self.model.put(stage, slot, NOTHING).put(to_stage, to_slot, self.model.cells[stage][slot])
        self._become(cell)

    def train(self) -> None:
        """Train a small model with a legal drawing, on a virtual rank for each stage, and compare it with one rank."""
        if wanting := self.model.wanting():
            self.drawn = self._shown(wanting)
            return
        self.drawn = self._shown("Your drawing is training a model.")
        found = trained(self.model.rows)
        ranks, losses = quantities.count(self.model.stages, "rank"), found.losses
        went = f"on {ranks} the loss went from {losses[0]:.3f} to {losses[-1]:.3f}"
        apart = f"Its weights and those of one rank with the whole model differ by at most {found.apart:.0e}."
        beside = [[f"{here:.4f}", f"{alone:.4f}"] for here, alone in zip(found.losses, found.alone, strict=True)]
        self.drawn = self._shown(f"The drawing trains a model: {went}. {apart}") | {
            "picture": pipeline_svg.draw_rows(self.model.rows, f"{went.capitalize()}, as on one rank."),
            "losses": beside,
        }

    def _become(self, model: Board) -> None:
        before, self.model = self.model, model
        self.drawn = self._shown(model.told(before))

    def _shown(self, message: str) -> dict[str, Any]:
        m = self.model
        return {
            "task": m.task,
            "most": m.micro_batches,
            "cells": [list(row) for row in m.cells],
            "marks": [
                [m.marks.get((stage, slot), "") for slot in range(len(row))] for stage, row in enumerate(m.cells)
            ],
            "missing": m.missing,
            "kept": m.kept,
            "counts": m.counts(),
            "legal": m.legal,
            "text": m.text,
            "message": message,
            "colours": {k: [(c := palette.colour(name)), palette.text_on(c)] for k, name in KINDS.items()},
        }

    def _hear(self, widget: Any, content: Any, buffers: Any) -> None:
        match content:
            case {"put": [int(stage), int(slot), str(cell)]} if self.model.has(stage, slot):
                self.put(stage, slot, cell)
            case {"move": [int(stage), int(slot), int(row), int(column)]} if self.model.has(
                stage, slot
            ) and self.model.has(row, column):
                self.move(stage, slot, row, column)
            case {"train": True}:
                self.train()
            case {"keep": True} if self.model != self._kept:
                self._kept = self.model
                self.keep()

    def caption(self) -> str:
        m = self.model
        return f"{m.words()} (without a browser: show.board({m.stages}, {m.micro_batches}, {m.cap}, rows=...))"

    def svg(self) -> str:
        return draw(self.model)


def board(stages: int, micro_batches: int, cap: int, rows: Rows | str | None = None) -> DrawingBoard:
    """A board for a drawing of ``stages`` rows. A stage keeps at most ``cap`` of the ``micro_batches`` at once.

    ``rows``: what is on it at first, a list of cells ("F3", "B3", "..") for each stage, or the same as text, a line
    for each stage. ``board.rows`` and ``board.text`` are the present drawing. Raises UsageError for sizes beyond
    a board and for rows that are none.
    """
    return DrawingBoard(Board.of(stages, micro_batches, cap, rows))


LEFT, RIGHT, TOP = 64.0, 8.0, 52.0
ROW, GAP, MOST = 26.0, 3.0, 21  # pixels; columns side by side, before the rows go on further down
KINDS = {"F": "Forward", "B": "Backward"}
HATCH = "M-2,2l4,-4M0,8l8,-8M6,10l4,-4"


def draw(board: Board) -> str:
    body, y = [svg.text(8, 24, board.task, 13, font_weight=600)], TOP
    columns = len(board.cells[0])
    for first in range(0, columns, MOST):
        body += _block(board, range(first, min(columns, first + MOST)), y)
        y += board.stages * (ROW + GAP) + 26
    for line in svg.wrapped(f"{board.counts()} {board.told()}", svg.WIDTH - 16):
        body.append(svg.text(8, y, line))
        y += 17
    hatch = svg.element("path", d=HATCH, stroke=palette.INK, class_="ls-line")
    pattern = svg.element("pattern", hatch, id="ls-hatch", width=8, height=8, patternUnits="userSpaceOnUse")
    return svg.document(svg.WIDTH, y + 2, "Board", board.words(), [svg.element("defs", pattern), *body])


def _block(board: Board, slots: range, top: float) -> Iterator[str]:
    """Some slots of all stages. ``top`` is where the first row begins."""
    wide = (svg.WIDTH - LEFT - RIGHT) / min(MOST, len(board.cells[0]))
    for column, slot in enumerate(slots):
        yield svg.faint(LEFT + (column + 0.5) * wide, top - 6, str(slot), text_anchor="middle")
    for stage in range(board.stages):
        y = top + stage * (ROW + GAP)
        yield svg.text(8, y + 17, f"stage {stage}")
        for column, slot in enumerate(slots):
            yield _cell(board, stage, slot, LEFT + column * wide, y, wide - 1)


def _cell(board: Board, stage: int, slot: int, x: float, y: float, wide: float) -> str:
    cell, why = board.cells[stage][slot], board.marks.get((stage, slot))
    fill, ink = palette.LANE, palette.INK
    if cell[0] in KINDS and not why:
        fill = palette.colour(KINDS[cell[0]])
        ink = palette.text_on(fill)
    seen = ("ls-lane", "ls-ink") if fill == palette.LANE else (None, None)
    frame: dict[str, Any] = {"x": x, "y": y, "width": wide, "height": ROW, "rx": 2}
    back = svg.element("rect", **frame, fill=fill, class_=seen[0])
    if why:
        dashes = {"stroke": palette.INK, "stroke_dasharray": "3 2", "class_": "ls-line"}
        back += svg.element("rect", **frame, fill="url(#ls-hatch)", fill_opacity=0.35, **dashes)
    word = (
        "" if cell == NOTHING else svg.text(x + wide / 2, y + 17, cell, text_anchor="middle", fill=ink, class_=seen[1])
    )
    return svg.element("g", svg.title(f"stage {stage}, slot {slot}: {why or cell}"), back, word)
