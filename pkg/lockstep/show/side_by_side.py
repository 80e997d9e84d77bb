"""Values beside each other: bars from zero, or, where one is more than ten times another, dots on a logarithmic axis.

A bar's length is its value, so it begins at zero. Where the shortest of them could not be seen any more, a place on an
axis whose powers of ten are named says what a length cannot. Each value stands beside its mark in any case.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from lockstep.show import palette, quantities, svg

MOST_TIMES = 10.0  # from the smallest to the largest value, as bars
LEAST_ROOM, TICK = 110.0, 52.0  # pixels of an axis at least, and from tick to tick
NAMED = 190.0  # pixels that names may take


@dataclass(frozen=True)
class Row:
    """``told`` is the value with its unit; ``colour`` is that of its mark."""

    name: str
    value: float
    told: str
    colour: str


@dataclass(frozen=True)
class SideBySide:
    """``rows`` from the height ``top`` down, ``pitch`` pixels apart; below them an axis in ``unit``."""

    rows: Sequence[Row]
    unit: str
    top: float
    pitch: float = 34.0
    thick: float = 22.0

    @cached_property
    def is_logarithmic(self) -> bool:
        values = [row.value for row in self.rows]
        return min(values) > 0 and max(values) > MOST_TIMES * min(values)

    @cached_property
    def left(self) -> float:
        return 24 + min(NAMED, max(svg.length(row.name) for row in self.rows))

    @cached_property
    def right(self) -> float:
        told = max(svg.length(row.told, 13, True) for row in self.rows)
        return max(self.left + LEAST_ROOM, svg.WIDTH - 24 - told)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The values at the ends of the axis: zero and the largest, or whole powers of ten."""
        values = [row.value for row in self.rows]
        if self.is_logarithmic:
            return 10.0 ** math.floor(math.log10(min(values))), 10.0 ** math.ceil(math.log10(max(values)))
        low, high = min(0.0, *values), max(0.0, *values)
        return low, high if high > low else 1.0

    @cached_property
    def bottom(self) -> float:
        """Below the axis and its numbers."""
        return self.top + self.pitch * len(self.rows) + 30

    def x(self, value: float) -> float:
        low, high = self.ends
        share = math.log(value / low) / math.log(high / low) if self.is_logarithmic else (value - low) / (high - low)
        return self.left + (self.right - self.left) * share

    def drawn(self) -> Iterator[str]:
        yield from self._axis()
        for n, row in enumerate(self.rows):
            y = self.top + self.pitch * n
            middle = y + self.thick / 2 + 4
            yield svg.named(self.left - 10, middle, row.name, self.left - 22, text_anchor="end")
            yield from self._dot(row, y) if self.is_logarithmic else self._bar(row, y)
            label = svg.fitting(row.told, svg.WIDTH - self._end(row) - 6, 13, True)
            yield svg.text(self._end(row), middle, label, 13, font_weight=600)

    def _end(self, row: Row) -> float:
        return max(self.x(row.value), self.x(0) if not self.is_logarithmic else 0.0) + 12

    def _bar(self, row: Row, y: float) -> Iterator[str]:
        zero, end = self.x(0), self.x(row.value)
        told = svg.title(f"{row.name}: {row.told}")
        width = max(0.8, abs(end - zero))
        yield svg.bar(min(zero, end), y, width, self.thick, abs(row.value), told, fill=row.colour)

    def _dot(self, row: Row, y: float) -> Iterator[str]:
        told = svg.title(f"{row.name}: {row.told}")
        x, middle = self.x(row.value), y + self.thick / 2
        yield svg.line(self.left, middle, x, middle, stroke=palette.FAINT, stroke_dasharray="1 4")
        yield svg.element("circle", told, cx=x, cy=middle, r=7.0, fill=row.colour, stroke=palette.PAPER)

    def _axis(self) -> Iterator[str]:
        low, high = self.ends
        most = max(2, int((self.right - self.left) / TICK))
        ticks = quantities.log_ticks(low, high, most) if self.is_logarithmic else quantities.ticks(low, high, most)
        below = self.top + self.pitch * len(self.rows) - (self.pitch - self.thick) / 2
        yield svg.lane(self.left, self.top - 6, self.right - self.left, below - self.top + 6)
        for tick in ticks:
            x = self.x(tick)
            yield svg.line(x, self.top - 6, x, below + 4, stroke=palette.FAINT, stroke_opacity=0.4)
            yield svg.faint(x, below + 17, quantities.plain(tick), text_anchor="middle")
        axis = "logarithmic axis" if self.is_logarithmic else "bars from zero"
        yield svg.faint(self.left, below + 34, f"{self.unit}, {axis}" if self.unit else axis)
