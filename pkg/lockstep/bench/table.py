"""The result of a benchmark: rows for programs, printed as a table for people."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

Cell = str | int | float
Row = Mapping[str, Cell]

WIDTH = 80  # columns of a terminal; a wider table stacks the words of its headings, and notes are wrapped


@dataclass(frozen=True)
class Table:
    """All rows have the same columns, and the first row names them: "wall [ms]" has its unit, a ratio has none."""

    title: str
    rows: Sequence[Row]
    notes: Sequence[str] = ()

    def text(self) -> str:
        cells = [[shown(cell) for cell in row.values()] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        heads = [[name] for name in self.rows[0]]
        if sum(2 + max(w, len(head[0])) for w, head in zip(widths, heads, strict=True)) > WIDTH:
            heads = [stacked(name, w) for name, w in zip(self.rows[0], widths, strict=True)]
        widths = [max(w, *map(len, head)) for w, head in zip(widths, heads, strict=True)]
        left = [isinstance(cell, str) for cell in self.rows[0].values()]
        lines = [*bottom_up(heads), *cells]
        return "\n".join([self.title, "", *(_line(line, widths, left) for line in lines), *_remarks(self.notes)])

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def shown(cell: Cell) -> str:
    """A cell as text; floats with three significant digits, as a benchmark has no more."""
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"


def size_of(nbytes: int) -> str:
    """4096 → "4 KiB"."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if nbytes >= unit:
            return f"{nbytes / unit:g} {name}"
    return f"{nbytes} B"


def stacked(name: str, width: int) -> list[str]:
    """A column's name in lines as wide as its cells, or as its longest word."""
    return textwrap.wrap(name, max(width, *map(len, name.split())), break_on_hyphens=False)


def bottom_up(heads: Sequence[Sequence[str]]) -> list[list[str]]:
    """The lines of all headings, aligned at the bottom."""
    lines = zip_longest(*(reversed(head) for head in heads), fillvalue="")
    return [list(line) for line in lines][::-1]


def _line(cells: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> str:
    padded = (c.ljust(w) if flush else c.rjust(w) for c, w, flush in zip(cells, widths, left, strict=True))
    return "  " + "  ".join(padded).rstrip()


def _remarks(notes: Sequence[str]) -> list[str]:
    wrapped = [textwrap.wrap(note, WIDTH, initial_indent="  ", subsequent_indent="    ") for note in notes]
    return ["", *(line for lines in wrapped for line in lines)] if notes else []
