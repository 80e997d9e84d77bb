"""cache_walk(): a walk through a matrix, element by element, and the cache lines that are there when it needs them.

The matrix lies in memory row by row. A walk by rows uses each line of 8 numbers at once; down a column, every step
needs another line. Hits and misses are those of ``lockstep.cpu.memory_traffic.Cache``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lockstep.cpu.memory_traffic import Cache
from lockstep.show import palette, svg
from lockstep.show.player import Player, Sheet, Slider
from lockstep.show.quantities import count

ROWS, COLUMNS, NUMBER, LINE, LINES = 4, 16, 8, 64, 2  # of float64: bytes of a number, of a line; lines of the cache
WAYS = ("by rows", "by columns")
EDGE, TOP, CELL, TALL = 14.0, 76.0, 31.0, 30.0
CACHED, HERE = palette.COLOURS["recv"], palette.COLOURS["send"]


@dataclass(frozen=True)
class Access:
    """A step of the walk: the element, the lines in the cache after it, and the misses so far."""

    row: int
    column: int
    cached: tuple[int, ...]
    hit: bool
    misses: int


def walk(way: str) -> list[Access]:
    """All steps, in a cache that holds ``LINES`` lines, each in any place."""
    places = [(r, c) for r in range(ROWS) for c in range(COLUMNS)]
    if way == "by columns":
        places.sort(key=lambda place: place[1])
    cache, recent, steps = Cache(LINES * LINE, LINE, LINES), list[int](), list[Access]()
    for row, column in places:
        line = (row * COLUMNS + column) * NUMBER // LINE
        hit = cache.access((row * COLUMNS + column) * NUMBER)
        recent = [*(held for held in recent if held != line), line][-LINES:]
        steps.append(Access(row, column, tuple(recent), hit, cache.misses))
    return steps


class CacheWalk(Player):
    """A drawing for each access; a slider chooses the walk. See ``cache_walk``."""

    label = "A walk through a matrix, and its cache lines"
    unit = "access"
    pause = 350

    def __init__(self, way: str = "by rows") -> None:
        self.way = way
        sheet = _sheet(way)
        super().__init__(sheet.frames, sheet.captions, step=len(sheet.frames) - 1)

    def sliders(self) -> tuple[Slider, ...]:
        return (Slider("walk", WAYS, WAYS.index(self.way)),)

    def sheets(self) -> list[Sheet]:
        return [_sheet(way) for way in WAYS]


def cache_walk() -> CacheWalk:
    """A matrix of 4 × 16 float64, walked by rows or by columns, with a cache of two lines."""
    return CacheWalk()


def _sheet(way: str) -> Sheet:
    steps = walk(way)
    told = [caption(steps, number) for number in range(len(steps))]
    return Sheet([draw(way, steps, number, told[number]) for number in range(len(steps))], told)


def caption(steps: Sequence[Access], number: int) -> str:
    at = steps[number]
    found = "a hit" if at.hit else "a miss: its line is fetched"
    missed = count(at.misses, "miss", "misses")
    return f"Row {at.row}, column {at.column}: {found}. {missed} in {count(number + 1, 'access', 'accesses')}."


def draw(way: str, steps: Sequence[Access], number: int, told: str) -> str:
    at = steps[number]
    body = [
        svg.text(EDGE, 26, f"{way.capitalize()}, access {number + 1} of {len(steps)}", 14, font_weight=600),
        svg.faint(EDGE, 48, told),
        *(_line(line, line in at.cached) for line in range(ROWS * COLUMNS * NUMBER // LINE)),
        *_used(steps[: number + 1]),
        *_key(TOP + ROWS * (TALL + 6) + 16),
    ]
    return svg.document(svg.WIDTH, TOP + ROWS * (TALL + 6) + 30, "A walk through a matrix", told, body)


def _line(line: int, is_cached: bool) -> str:
    wide = LINE // NUMBER
    row, first = divmod(line * wide, COLUMNS)
    place = {
        "x": EDGE + CELL * first + 1,
        "y": TOP + row * (TALL + 6),
        "width": CELL * wide - 4,
        "height": TALL,
        "rx": 4,
    }
    told = svg.title(f"line {line}: {'in the cache' if is_cached else 'in memory only'}")
    if is_cached:
        return svg.element("rect", told, **place, fill=CACHED)
    return svg.element("rect", told, **place, fill=palette.LANE, class_="ls-lane")


def _used(steps: Sequence[Access]) -> Iterator[str]:
    """A dot for each element that was read, and a square for the one that is read now."""
    for step in steps[:-1]:
        place = {"cx": EDGE + CELL * (step.column + 0.5), "cy": TOP + step.row * (TALL + 6) + TALL / 2}
        yield svg.element("circle", **place, r=3, fill=palette.FAINT)
    at = steps[-1]
    x, y = EDGE + CELL * at.column + 4, TOP + at.row * (TALL + 6) + 4
    rim = {"stroke": palette.INK, "stroke_width": 2, "class_": "ls-line"}
    yield svg.element("rect", x=x, y=y, width=CELL - 10, height=TALL - 8, rx=3, fill=HERE, **rim)


def _key(y: float) -> Iterator[str]:
    x = EDGE
    for fill, words in (
        (CACHED, f"one of {LINES} lines in the cache"),
        (HERE, "read now"),
        (palette.FAINT, "was read"),
    ):
        yield svg.element("rect", x=x, y=y - 10, width=12, height=12, rx=2, fill=fill)
        yield svg.text(x + 17, y, words)
        x += 34 + 6.9 * len(words)
