"""board(): a grid of stages and slots, to draw a pipeline schedule on. What stands on it is judged by Python."""

from __future__ import annotations

from typing import Any

import traitlets

from lockstep.pipeline.drawing import Rows
from lockstep.pipeline.drawn_training import trained
from lockstep.show import board_svg, palette, pipeline_drawing, quantities
from lockstep.show.board_model import NOTHING, Board
from lockstep.show.figure import Figure, script


class DrawingBoard(Figure):
    """The widget: it sends what is placed, and shows what Python says of it. See ``board``."""

    _esm = script("board")
    drawn = traitlets.Dict().tag(sync=True)

    def __init__(self, model: Board) -> None:
        self.model = model
        super().__init__(drawn=self._shown(model.told()))
        self.on_msg(self._hear)

    @property
    def rows(self) -> list[list[str]]:
        """The drawing as it stands: a list of cells for each stage, equally long."""
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
        """What stands in one cell stands in another one afterwards, in place of what was there."""
        cell = self.model.put(stage, slot, NOTHING).put(to_stage, to_slot, self.model.cells[stage][slot])
        self._become(cell)

    def train(self) -> None:
        """Train a small model with a legal drawing, on a virtual rank for each stage, and show it beside one rank."""
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
            "picture": pipeline_drawing.draw(self.model.rows, f"{went.capitalize()}, as on one rank."),
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
            "colours": {k: [(c := palette.colour(name)), palette.text_on(c)] for k, name in board_svg.KINDS.items()},
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

    def caption(self) -> str:
        m = self.model
        return f"{m.words()} (without a browser: show.board({m.stages}, {m.micro_batches}, {m.cap}, rows=...))"

    def svg(self) -> str:
        return board_svg.draw(self.model)


def board(stages: int, micro_batches: int, cap: int, rows: Rows | str | None = None) -> DrawingBoard:
    """A board for a drawing of ``stages`` rows. A stage keeps at most ``cap`` of the ``micro_batches`` at once.

    ``rows``: what stands on it at first, a list of cells ("F3", "B3", "..") for each stage, or the same as text, a line
    for each stage. ``board.rows`` and ``board.text`` are the drawing as it stands. Raises UsageError for sizes beyond
    a board and for rows that are none.
    """
    return DrawingBoard(Board.of(stages, micro_batches, cap, rows))
