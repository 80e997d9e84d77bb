"""xray(): whose numbers are in the result of a collective, drawn from a run of it, and step by step how they got there.

A column for each rank, a row for each band of elements, in each cell a slot for each rank. A filled slot says that this
rank's numbers are in the cell; a dashed one that they should be and are not. Colour says the same as form and words:
nothing rests on it alone. A message leaves a cell at its top and comes down into another one. What the cells hold is in
``xray_model``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lockstep.dye.expected import Wanted
from lockstep.dye.provenance import Dyed, Move
from lockstep.errors import UsageError
from lockstep.show import motion, palette, svg
from lockstep.show.player import Player
from lockstep.show.quantities import count
from lockstep.show.xray_model import Band, Frame, Seen, Slot, frames

LARGEST = 9  # ranks: 81 chunks can be seen on one page


class XRay(Player):
    """A frame for each round, and the result at the end, which is shown at first. See ``xray``."""

    label = "Who is in the result"

    def __init__(self, dyed: Dyed, wanted: Wanted | None = None, said: str = "") -> None:
        steps = frames(dyed, wanted)
        sheet = Sheet(steps, names(dyed), wanted is not None)
        captions = [caption(steps, number, said) for number in range(len(steps))]
        lines = [svg.wrapped(told, svg.WIDTH - 28) if told else [] for told in captions]
        tallest = max(map(len, lines))  # so that nothing moves from step to step
        drawn = [
            draw(sheet, step, title(steps, number), lines[number] + [""] * (tallest - len(lines[number])), before)
            for number, (step, before) in enumerate(zip(steps, (None, *steps), strict=False))
        ]
        super().__init__(drawn, captions, step=len(steps) - 1)


def xray(dyed: Dyed, wanted: Wanted | None = None, said: str = "") -> XRay:
    """Draw what ``lockstep.dye.dye`` found: for each rank and element, whose numbers are in it.

    With ``wanted``, as ``total(dyed)``, what is missing and what should not be there is marked. ``said`` is written
    above the result, as the sentence of ``told``. A dye with ``steps=True`` shows the way there as well: what each rank
    holds before each round of messages. Raises UsageError where nothing is certain, and for more than 9 ranks.
    """
    if not dyed.certain:
        raise UsageError(
            "What is in this result is not certain, so there is no picture of it.", "Look at dyed.doubt: it says why."
        )
    if dyed.ranks > LARGEST:
        raise UsageError(f"This figure shows at most {LARGEST} ranks, not {dyed.ranks}.")
    return XRay(dyed, wanted, said)


def title(steps: tuple[Frame, ...], number: int) -> str:
    last = len(steps) - 1
    if number == last:
        return "Who is in the result" + (f", after {count(last, 'round')}" if last else "")
    return f"Who is where, before round {number + 1} of {last}"


def caption(steps: tuple[Frame, ...], number: int, said: str) -> str:
    """The sentence above a step."""
    if number == len(steps) - 1:
        return said
    return f"Next: {count(len(steps[number].moves), 'message')}, each to where its arrow points."


def names(dyed: Dyed) -> tuple[str, ...]:
    """The headings of the columns. In a subgroup: the rank in the group, with the rank in the world in parentheses."""
    if dyed.members == tuple(range(dyed.ranks)):
        return tuple(f"rank {rank}" for rank in range(dyed.ranks))
    return tuple(f"rank {rank} (world {member})" for rank, member in enumerate(dyed.members))


PARTIAL = palette.COLOURS["reduce_scatter"]
RIGHT = palette.COLOURS["all_reduce"]
STRANGE = palette.COLOURS["send"]
WIDTH, LEFT, EDGE, TOP = svg.WIDTH, 78.0, 14.0, 62.0
LINE, GAP, LANE = 20.0, 7.0, 6.0  # of slots; between cells; between messages
LETTER = 7.4  # pixels of a letter of a label
KEY = 20.0  # from line to line of the key


@dataclass(frozen=True)
class Sheet:
    """What all frames have in common: the names of the columns, and whether it is known what should be there."""

    frames: tuple[Frame, ...]
    names: tuple[str, ...]
    is_judged: bool


def draw(sheet: Sheet, frame: Frame, title: str, lines: Sequence[str], before: Frame | None = None) -> str:
    """The figure of one frame, under ``lines`` of words. What moved in the one ``before`` is seen arriving."""
    grid = Grid(sheet, len(lines))
    body = [
        svg.text(EDGE, 26, title, 14, font_weight=600),
        *(svg.faint(EDGE, 45 + 17 * i, line) for i, line in enumerate(lines)),
        *_heads(grid),
        *(part for number, band in enumerate(frame.bands) for part in _band(grid, number, band)),
        *(part for number, band in enumerate(frame.bands) for part in _moves(grid, number, lanes(frame, band))),
        *(_arrivals(grid, before) if before else ()),
        *_key(grid),
    ]
    return svg.document(WIDTH, grid.height, title, words(frame, lines), body)


class Grid:
    """Where the cells and their slots are, in pixels, the same in all frames. Slots are in lines, as many in each as
    there is room for."""

    def __init__(self, sheet: Sheet, lines: int) -> None:
        ranks, cells = len(sheet.names), [c for f in sheet.frames for b in f.bands for c in b.cells if c]
        self.sheet, self.top, self.key = sheet, TOP + 17 * lines, key(sheet)
        self.pitch = (WIDTH - LEFT - EDGE) / ranks
        self.cell = min(self.pitch - 6, 190.0)
        longest = max((len(s.label) for c in cells for s in c.slots), default=1)
        room = max(1, min(ranks, int((self.cell - 6) / (LETTER * longest + 6))))
        self.in_a_line = -(-ranks // -(-ranks // room))
        self.slot = (self.cell - 6) / self.in_a_line
        self.tall = LINE * (-(-ranks // self.in_a_line) + any(c.alone for c in cells)) + 6
        needed = max((len(lanes(f, b)) for f in sheet.frames for b in f.bands), default=0)
        self.gap = GAP + (LANE * needed + 8 if needed else 0)

    @property
    def height(self) -> float:
        return self.top + len(self.sheet.frames[0].bands) * (self.tall + self.gap) + 24 + KEY * len(self.key)

    def x(self, rank: int) -> float:
        return LEFT + self.pitch * rank + (self.pitch - self.cell) / 2

    def y(self, band: int) -> float:
        return self.top + band * (self.tall + self.gap) + self.gap


def _heads(grid: Grid) -> Iterator[str]:
    for rank, name in enumerate(grid.sheet.names):
        yield svg.text(grid.x(rank) + grid.cell / 2, grid.top - 4, name, text_anchor="middle")
    yield svg.faint(EDGE, grid.top - 4, "elements")


def _band(grid: Grid, number: int, band: Band) -> Iterator[str]:
    yield svg.faint(EDGE, grid.y(number) + grid.tall / 2 + 4, band.label)
    for rank, cell in enumerate(band.cells):
        if cell is not None:
            yield _cell(grid, grid.x(rank), grid.y(number), cell, _told(band, rank, cell))


def _cell(grid: Grid, x: float, y: float, cell: Seen, told: str) -> str:
    rim = {"stroke": RIGHT, "stroke_width": 2} if cell.is_right else {"stroke": palette.FAINT, "stroke_width": 0.8}
    place = {"x": x, "y": y, "width": grid.cell, "height": grid.tall, "rx": 3}
    drawn = [svg.title(told), svg.element("rect", **place, fill=palette.LANE, class_="ls-lane", **rim)]
    for slot in cell.slots:
        line, seat = divmod(slot.rank, grid.in_a_line)
        drawn.append(_slot(slot, cell.is_right, x + 3 + seat * grid.slot, y + 3 + line * LINE, grid.slot))
    if cell.alone:
        drawn.append(svg.text(x + 8, y + grid.tall - 8, f"{_signed(cell.alone)} from nobody", font_weight=600))
    return svg.element("g", *drawn)


def _slot(slot: Slot, is_right: bool, x: float, y: float, wide: float) -> str:
    fill = {"in": RIGHT if is_right else PARTIAL, "strange": STRANGE}.get(slot.state)
    box = {"x": x + 1, "y": y + 1, "width": wide - 2, "height": LINE - 2, "rx": 2}
    middle, base = x + wide / 2, y + LINE / 2 + 4
    if fill:
        ink = palette.text_on(fill)
        label = svg.text(middle, base, slot.label, fill=ink, font_weight=600, text_anchor="middle")
        return svg.element("rect", **box, fill=fill) + label
    if slot.state == "missing":
        rim = svg.element("rect", **box, **_dashed())
        return rim + svg.text(middle, base, slot.label, text_anchor="middle")
    return svg.faint(middle, base, "·", text_anchor="middle")


def _dashed() -> dict[str, str]:
    return {"fill": "none", "stroke": palette.INK, "class_": "ls-line", "stroke_dasharray": "3 2"}


# ---- messages


def lanes(frame: Frame, band: Band) -> list[list[Move]]:
    """The messages that carry this band, in lanes; messages that overlap get lanes of their own."""
    found: list[list[Move]] = []
    for move in sorted(frame.moves, key=lambda m: abs(m.target - m.source)):
        if band.first not in move.elements:
            continue
        free = (lane for lane in found if not any(_overlap(move, other) for other in lane))
        lane = next(free, None)
        if lane is None:
            found.append([move])
        else:
            lane.append(move)
    return found


def _overlap(one: Move, other: Move) -> bool:
    (a, b), (c, d) = sorted(one[:2]), sorted(other[:2])
    return a < d and c < b


def _moves(grid: Grid, number: int, of_band: Sequence[Sequence[Move]]) -> Iterator[str]:
    top = grid.y(number)
    for lane, moves in enumerate(of_band):
        for move in moves:
            yield _move(grid, move, top, top - 8 - LANE * lane)


def _move(grid: Grid, move: Move, top: float, height: float) -> str:
    """Up from the source, along, and down into the target."""
    way = 4 if move.target > move.source else -4
    start, end = grid.x(move.source) + grid.cell / 2 + 3 * way, grid.x(move.target) + grid.cell / 2 - way
    line = svg.element(
        "path", d=f"M{start:.1f} {top:.1f}V{height:.1f}H{end:.1f}", fill="none", stroke=palette.INK, class_="ls-line",
        stroke_width=1.3,
    )  # fmt: skip
    head = svg.arrow(end, height, end, top, head=6, stroke_width=1.3)
    return svg.element("g", svg.title(_sent(move)), line, head)


def _arrivals(grid: Grid, before: Frame) -> Iterator[str]:
    """The cells that the messages have carried, as they come from where they were sent."""
    for number, band in enumerate(before.bands):
        for move in before.moves:
            if band.first in move.elements:
                x, y = grid.x(move.target), grid.y(number)
                cell = svg.element(
                    "rect", x=x, y=y, width=grid.cell, height=grid.tall, rx=3, fill=PARTIAL, fill_opacity=0.6
                )
                yield motion.came(grid.x(move.source) - x, 0, cell)


# ---- words


def _key(grid: Grid) -> Iterator[str]:
    for line, entries in enumerate(grid.key):
        x, y = EDGE, grid.height - 16 - KEY * (len(grid.key) - 1 - line)
        for look, told in entries:
            yield svg.element("rect", x=x, y=y - 10, width=12, height=12, rx=2, **look)
            yield svg.text(x + 18, y, told)
            x += _entry(told)


def key(sheet: Sheet) -> list[list[tuple[dict[str, str], str]]]:
    """What the slots mean, of those that are in any frame, in lines."""
    cells = [c for f in sheet.frames for b in f.bands for c in b.cells if c]
    partial = {s.state for c in cells if not c.is_right for s in c.slots}
    judged = sheet.is_judged
    entries = [
        ({"fill": RIGHT}, "as it should be" if judged else "all ranks are in it", any(c.is_right for c in cells)),
        ({"fill": PARTIAL}, "rightly in it" if judged else "in it", "in" in partial),
        ({"fill": STRANGE}, "too often (×), of another element ([ ]), or wrongly in it", "strange" in partial),
        (_dashed(), "missing", "missing" in partial),
    ]
    lines: list[list[tuple[dict[str, str], str]]] = []
    room = 0.0
    for look, told, is_there in entries:
        if not is_there:
            continue
        if room < _entry(told):
            lines.append([])
            room = WIDTH - EDGE
        lines[-1].append((look, told))
        room -= _entry(told)
    return lines


def _entry(told: str) -> float:
    """How wide an entry of the key is."""
    return 36 + 7.2 * len(told)


def words(frame: Frame, lines: Sequence[str]) -> str:
    """The figure for those who do not see it."""
    cells = [_told(band, rank, c) for band in frame.bands for rank, c in enumerate(band.cells) if c]
    return " ".join([*lines, "; ".join(cells) + ".", *(f"{_sent(move)}." for move in frame.moves)])


def _sent(move: Move) -> str:
    return (
        f"rank {move.source} sends elements {', '.join(map(str, move.elements)) or 'of nobody'} to rank {move.target}"
    )


def _told(band: Band, rank: int, cell: Seen) -> str:
    parts = [s.label for s in cell.slots if s.state in ("in", "strange")]
    missing = [s.label for s in cell.slots if s.state == "missing"]
    told = f"rank {rank}, {'element' if band.first == band.last else 'elements'} {band.label}: "
    told += f"of {_ranks(parts)}" if parts else "of nobody"
    told += f"; {_ranks(missing)} missing" if missing else ""
    return told + (f"; {_signed(cell.alone)} from nobody" if cell.alone else "")


def _signed(value: float) -> str:
    return f"{value:+g}".replace("-", "\N{MINUS SIGN}")


def _ranks(labels: Sequence[str]) -> str:
    return f"rank{'s' if len(labels) > 1 else ''} {', '.join(labels)}"
