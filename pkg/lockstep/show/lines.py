"""Cache lines as a picture: a row is a line of 64 bytes, a box 8 bytes of it, in the colour of who writes it."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.show import palette, svg
from lockstep.show.picture import Picture

BOX, GAP, LEFT, TOP = 44.0, 3.0, 96.0, 62.0
WIDTH, LINE, CELL, MOST_ROWS = svg.WIDTH, 64, 8, 8
WORKERS = ("#0072B2", "#E69F00", "#009E73", "#EB5972", "#56B4E9", "#847211", "#A24D85", "#3A3A3A")


def lines(written: Sequence[Sequence[int]], transfers: int, workers: int) -> Picture:
    """Which worker writes where: see ``draw_lines``. ``lockstep.cpu.memory_traffic`` has both."""
    return Picture.of(draw_lines(written, transfers, workers))


def draw_lines(written: Sequence[Sequence[int]], transfers: int, workers: int) -> str:
    """``written``: pairs (address in bytes, worker). ``transfers``: how often a line moved from core to core."""
    cells: dict[int, set[int]] = {}
    for address, worker in written:
        cells.setdefault(address // CELL, set()).add(worker)
    rows = sorted({cell * CELL // LINE for cell in cells})[:MOST_ROWS]
    head = "The cache lines that your workers write to"
    told = f"{workers} workers. A line moved from core to core {transfers:,} time{'' if transfers == 1 else 's'}."
    body = [svg.text(20, 24, head, 14, font_weight=600), svg.faint(20, 43, told, 12)]
    for row, line in enumerate(rows):
        y = TOP + row * (BOX * 0.62 + GAP)
        body.append(svg.faint(LEFT - 10, y + 18, f"line {line - rows[0]}", text_anchor="end"))
        first = line * LINE // CELL
        body += [_cell(cells.get(first + n, set()), LEFT + n * (BOX + GAP), y) for n in range(LINE // CELL)]
    return svg.document(WIDTH, TOP + len(rows) * (BOX * 0.62 + GAP) + 10, head, told, body)


def _cell(writers: set[int], x: float, y: float) -> str:
    """Nobody's, one worker's, or several workers'."""
    height = BOX * 0.62
    if not writers:
        return svg.lane(x, y, BOX, height)
    fill = WORKERS[min(writers) % len(WORKERS)] if len(writers) == 1 else palette.PAPER
    words = "w" + ",".join(map(str, sorted(writers)[:3]))
    ink = palette.text_on(fill)
    box = svg.element("rect", x=x, y=y, width=BOX, height=height, rx=3, fill=fill, stroke=palette.INK)
    return box + svg.text(x + BOX / 2, y + height / 2 + 4, words, 12, fill=ink, text_anchor="middle", font_weight=600)
