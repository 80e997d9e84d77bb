"""lines(): which worker writes which cache line: a row is a line of 64 bytes, a box 8 bytes, a colour a worker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lockstep.cpu.memory_traffic import in_turns
from lockstep.cpu.tracing import SERIAL, Access
from lockstep.show import palette, svg
from lockstep.show.player import Player
from lockstep.show.quantities import count

BOX, GAP, LEFT, TOP = 44.0, 3.0, 96.0, 62.0
WIDTH, LINE, CELL, MOST_ROWS = svg.WIDTH, 64, 8, 8
MOST_TURNS = 32  # accesses that are stepped through
Written = Sequence[Sequence[int]]
WORKERS = palette.WORKERS


@dataclass(frozen=True)
class Turn:
    """An access to one of the lines, and how often a line has moved by then."""

    address: int
    worker: int
    told: str


class Lines(Player):
    """The whole, shown at first, after a drawing for each of the first accesses. See ``lines``."""

    label = "The cache lines that your workers write to"
    unit = "access"
    pause = 600

    def __init__(self, written: Written, transfers: int, workers: int, turns: Sequence[Turn]) -> None:
        drawn = [draw_lines(written, transfers, workers, turn) for turn in turns]
        whole = f"{workers} workers. A line moved from core to core {count(transfers, 'time')}."
        captions = [*(turn.told for turn in turns), whole]
        super().__init__([*drawn, draw_lines(written, transfers, workers)], captions, step=len(turns))


def lines(written: Written, transfers: int, workers: int, accesses: Sequence[Access] = ()) -> Lines:
    """Which worker writes where: see ``draw_lines``. ``lockstep.cpu.memory_traffic`` has all of them. With the run's
    ``accesses``, its first ones can be stepped through."""
    own = {address // LINE for address, _ in written}
    return Lines(written, transfers, workers, list(islice(_turns(accesses, own), MOST_TURNS)))


def _turns(accesses: Sequence[Access], own: set[int]) -> Iterator[Turn]:
    moves = 0
    for (address, writes, worker, _), moved in in_turns([a for a in accesses if a[2] != SERIAL]):
        if address // LINE in own:
            moves += moved
            does = f"Worker {worker} {'writes' if writes else 'reads'} bytes {address % LINE} to {address % LINE + 7}"
            goes = "its core gets the line from another one" if moved else "its core has what it needs"
            yield Turn(address, worker, f"{does}: {goes}. {count(moves, 'move')} so far.")


def draw_lines(written: Written, transfers: int, workers: int, turn: Turn | None = None) -> str:
    """``written``: pairs (address in bytes, worker). ``transfers``: how often a line moved from core to core. With a
    ``turn``, who has the line now."""
    cells: dict[int, set[int]] = {}
    for address, worker in written:
        cells.setdefault(address // CELL, set()).add(worker)
    rows = sorted({cell * CELL // LINE for cell in cells})[:MOST_ROWS]
    head = "The cache lines that your workers write to"
    whole = f"{workers} workers. A line moved from core to core {transfers:,} time{'' if transfers == 1 else 's'}."
    told = turn.told if turn else whole
    body = [svg.text(20, 24, head, 14, font_weight=600), svg.faint(20, 43, told, 12)]
    for row, line in enumerate(rows):
        y = TOP + row * (BOX * 0.62 + GAP)
        body.append(svg.faint(LEFT - 10, y + 18, f"line {line - rows[0]}", text_anchor="end"))
        first = line * LINE // CELL
        body += [_cell(cells.get(first + n, set()), LEFT + n * (BOX + GAP), y) for n in range(LINE // CELL)]
    if turn:
        body.append(_holder(turn, rows.index(turn.address // LINE)))
    return svg.document(WIDTH, TOP + len(rows) * (BOX * 0.62 + GAP) + 10, head, told, body)


def _holder(turn: Turn, row: int) -> str:
    """A rim in the worker's colour round the line, and round what it reads or writes."""
    y, fill = TOP + row * (BOX * 0.62 + GAP), WORKERS[turn.worker % len(WORKERS)]
    look = {"fill": "none", "stroke": fill, "stroke_width": 3, "rx": 4}
    across = LINE // CELL * (BOX + GAP)
    whole = svg.element("rect", x=LEFT - 4, y=y - 3, width=across + 5, height=BOX * 0.62 + 6, **look)
    x = LEFT + turn.address % LINE // CELL * (BOX + GAP)
    return whole + svg.element("circle", cx=x + BOX - 8, cy=y + 8, r=5, fill=palette.INK, class_="ls-ink")


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
