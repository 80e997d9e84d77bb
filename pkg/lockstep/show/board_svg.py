"""A board as a still picture: a row for each stage, a cell for each slot; what breaks a rule is hatched and named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lockstep.show import palette, svg
from lockstep.show.board_model import NOTHING, Board

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
